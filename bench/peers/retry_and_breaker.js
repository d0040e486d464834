// cockatiel and opossum, asked what pawl's benchmarks ask: a call that succeeds at once, through
// what would have retried or refused it. Prints one line of JSON.
//
//   retry_and_breaker.js cockatiel SECONDS   retry and circuit breaker, wrapped
//   retry_and_breaker.js opossum SECONDS     a circuit breaker; it has no retry
//
// tools/bench runs it with NODE_PATH, since the packages are installed outside the tree.
"use strict";

const checkTimeEvery = 64;

// One call after the other, each awaited, for so long. Calls a second.
async function rateOf(call, seconds) {
  const began = process.hrtime.bigint();
  const end = began + BigInt(Math.round(seconds * 1e9));
  let calls = 0;
  while (process.hrtime.bigint() < end) {
    for (let i = 0; i < checkTimeEvery; ++i) {
      if ((await call()) !== 1) throw new Error("the call was not made");
    }
    calls += checkTimeEvery;
  }
  return calls / (Number(process.hrtime.bigint() - began) / 1e9);
}

async function measure(call, seconds) {
  await rateOf(call, seconds / 4); // until it is compiled
  return { per_second: await rateOf(call, seconds) };
}

async function work() {
  return 1;
}

// As its documentation shows it, with pawl's numbers: three attempts, five failures in a row.
function cockatiel(seconds) {
  const {
    ConsecutiveBreaker,
    ExponentialBackoff,
    circuitBreaker,
    handleAll,
    retry,
    wrap,
  } = require("cockatiel");
  const attempts = retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff() });
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: 1000,
    breaker: new ConsecutiveBreaker(5),
  });
  const both = wrap(attempts, breaker);
  return measure(() => both.execute(work), seconds);
}

// As its documentation shows it.
function opossum(seconds) {
  const CircuitBreaker = require("opossum");
  const breaker = new CircuitBreaker(work, {
    timeout: 3000,
    errorThresholdPercentage: 50,
    resetTimeout: 30000,
  });
  return measure(() => breaker.fire(), seconds);
}

const [name, seconds] = process.argv.slice(2);
const cases = { cockatiel, opossum };
if (!Object.hasOwn(cases, name)) {
  console.error(`unknown case '${name}'; known are ${Object.keys(cases).join(", ")}`);
  process.exit(2);
}
cases[name](Number(seconds)).then(
  (result) => {
    console.log(JSON.stringify(result));
    process.exit(0); // opossum holds timers
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
