// rate-limiter-flexible, asked what pawl's benchmarks ask. Prints one line of JSON.
//
//   rate_limiter_flexible.js hot_key SECONDS
//   rate_limiter_flexible.js keys SECONDS KEYS              that many keys in random order
//   rate_limiter_flexible.js redis SECONDS KEYS IN_FLIGHT   PAWL_TEST_REDIS says where
//
// tools/bench runs it with NODE_PATH, since the packages are installed outside the tree.
"use strict";

const { RateLimiterMemory, RateLimiterRedis } = require("rate-limiter-flexible");

const checkTimeEvery = 64;

function pseudoRandom(seed) {
  let x = seed;
  return (below) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return Math.floor((x / 2 ** 32) * below);
  };
}

// So many loops at once, each asking again when it is answered, for so long. Asks a second.
async function rateOf(ask, seconds, inFlight) {
  const began = process.hrtime.bigint();
  const end = began + BigInt(Math.round(seconds * 1e9));
  let asks = 0;
  const loop = async (seed) => {
    const random = pseudoRandom(seed);
    do {
      for (let i = 0; i < checkTimeEvery; ++i) await ask(random);
      asks += checkTimeEvery;
    } while (process.hrtime.bigint() < end); // once at least, however late it begins
  };
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i + 1)));
  return asks / (Number(process.hrtime.bigint() - began) / 1e9);
}

async function measure(ask, seconds, inFlight = 1) {
  await rateOf(ask, seconds / 4, inFlight); // until it is compiled
  return { per_second: await rateOf(ask, seconds, inFlight) };
}

function tenant(number) {
  return `tenant:${String(number).padStart(12, "0")}`;
}

function hotKey(seconds) {
  const limiter = new RateLimiterMemory({ points: 1e15, duration: 3600 });
  return measure(() => limiter.consume("acme"), seconds);
}

async function manyKeys(seconds, keys) {
  const limiter = new RateLimiterMemory({ points: 1e15, duration: 3600 });
  const names = Array.from({ length: keys }, (_, i) => tenant(i));
  global.gc();
  const before = process.memoryUsage().heapUsed;
  for (const name of names) await limiter.consume(name);
  global.gc();
  const bytes = process.memoryUsage().heapUsed - before;
  const result = await measure((random) => limiter.consume(names[random(keys)]), seconds);
  return { ...result, bytes_a_key: bytes / keys };
}

async function redis(seconds, keys, inFlight) {
  const Redis = require("ioredis");
  const client = new Redis(process.env.PAWL_TEST_REDIS); // its automatic pipelining is slower here
  const limiter = new RateLimiterRedis({ storeClient: client, points: 1e9, duration: 3600 });
  const ask = (random) => limiter.consume(tenant(random(keys)));
  const result = await measure(ask, seconds, inFlight);
  client.disconnect();
  return result;
}

const [name, ...numbers] = process.argv.slice(2);
const cases = { hot_key: hotKey, keys: manyKeys, redis };
if (!Object.hasOwn(cases, name)) {
  console.error(`unknown case '${name}'; known are ${Object.keys(cases).join(", ")}`);
  process.exit(2);
}
cases[name](...numbers.map(Number)).then(
  (result) => {
    console.log(JSON.stringify(result));
    process.exit(0); // RateLimiterMemory holds a timer for each key
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
