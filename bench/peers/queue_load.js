// BullMQ and pg-boss under the load that bench/queue_load_main.cc puts on pawl: empty tasks,
// submitted by so many at once, run and completed.
//
//   queue_load.js bullmq|pg-boss both|submit|work URL TASKS SUBMITTERS BATCH CONCURRENCY
//   queue_load.js pg-boss make URL    its tables; several processes cannot make them at once
//
// Each submitter gives BATCH tasks, waits until they are taken, and gives the next; all of this
// process together give TASKS. At most CONCURRENCY tasks are handled at once.
//
// Says `ready`, begins when a line comes in, says `completed N` now and then, ends when the next
// line comes in, and says what it did as one line of JSON: times are seconds since 1970.
//
// tools/compare runs it with NODE_PATH, since the packages are installed outside the tree.
"use strict";

const readline = require("node:readline");

const name = "load";
const now = () => (performance.timeOrigin + performance.now()) / 1000;

// Redis: what to write to is the caller's choice (appendfsync), not the client's.
function bullmq(url, concurrency) {
  const { Queue, Worker } = require("bullmq");
  const Redis = require("ioredis");
  const connect = () => new Redis(url, { maxRetriesPerRequest: null });
  let queue;
  let worker;
  return {
    async openQueue() {
      queue = new Queue(name, { connection: connect() });
      await queue.waitUntilReady();
    },
    async openWorker(completed) {
      worker = new Worker(name, async () => {}, {
        connection: connect(),
        concurrency,
        autorun: false,
      });
      worker.on("completed", () => completed(1));
      await worker.waitUntilReady();
    },
    work: () => void worker.run(),
    submit: () => queue.add(name, {}),
    submitMany: (count) => queue.addBulk(Array.from({ length: count }, () => ({ name, data: {} }))),
    async close() {
      await worker?.close();
      await queue?.close();
    },
  };
}

// Its work() asks twice a second at the most; so tasks are fetched and completed by hand, in
// batches, by loops that share the concurrency.
function pgBoss(url, concurrency) {
  const PgBoss = require("pg-boss");
  const loops = Math.min(2, concurrency);
  const boss = new PgBoss({ connectionString: url, max: 20, supervise: false, schedule: false });
  let told;
  let ended = false;
  async function loop() {
    while (!ended) {
      const jobs = await boss.fetch(name, { batchSize: Math.ceil(concurrency / loops) });
      if (!jobs.length) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      await boss.complete(name, jobs.map((job) => job.id));
      told(jobs.length);
    }
  }
  let running = [];
  return {
    async make() {
      await boss.start();
      await boss.createQueue(name);
    },
    openQueue: () => boss.start(),
    async openWorker(completed) {
      told = completed;
      await boss.start();
    },
    work() {
      running = Array.from({ length: loops }, loop);
    },
    submit: () => boss.send(name, {}),
    submitMany: (count) => boss.insert(Array.from({ length: count }, () => ({ name, data: {} }))),
    async close() {
      ended = true;
      await Promise.all(running);
      await boss.stop({ graceful: false });
    },
  };
}

async function submitAll(peer, { tasks, submitters, batch }) {
  let left = tasks;
  const submitter = async () => {
    while (left > 0) {
      const count = Math.min(batch, left);
      left -= count;
      await (batch === 1 ? peer.submit() : peer.submitMany(count));
    }
  };
  await Promise.all(Array.from({ length: submitters }, submitter));
}

async function main([kind, role, url, ...numbers]) {
  const [tasks, submitters, batch, concurrency] = numbers.map(Number);
  const peer = { bullmq, "pg-boss": pgBoss }[kind](url, concurrency);
  if (role === "make") {
    await peer.make();
    return peer.close();
  }
  const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const told = { began: 0, submitted: 0, ended: 0, completed: 0 };
  if (role !== "work") await peer.openQueue();
  if (role !== "submit") {
    await peer.openWorker((count) => {
      told.completed += count;
      told.ended = now();
    });
  }
  console.log("ready");
  await lines.next();

  let said = 0;
  const saying = setInterval(() => {
    if (said !== told.completed) console.log(`completed ${(said = told.completed)}`);
  }, 20);
  told.began = now();
  if (role !== "submit") peer.work();
  if (role !== "work") {
    await submitAll(peer, { tasks, submitters, batch });
    told.submitted = now();
  }
  await lines.next();
  clearInterval(saying);
  await peer.close();
  console.log(JSON.stringify(told));
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
