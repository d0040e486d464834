// Goal: the token gets one in, nothing else does, and pages keep no secret. Method: a browser
// before a pawl with a token.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { token, withStack } from "./stack.mjs";

const held = withStack({ before, after });

test("a wrong token is told, the right one leads in", async () => {
  const page = await held.stack.browse();
  await page.goto(held.stack.panel);
  await page.getByLabel("Token").fill("guess");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("That is not the token.").first().waitFor();
  assert.equal(await page.getByText("Your session is over.").count(), 0); // there was none
  await page.keyboard.type(token); // the field has the focus, and what was wrong is written over
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Tenants" }).waitFor();
});

test("a token of letters that no header has is a wrong one", async () => {
  const page = await held.stack.browse();
  await page.goto(held.stack.panel);
  await page.getByLabel("Token").fill("пароль");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("That is not the token.").first().waitFor();
});

test("the session is a cookie that no script and no other site can use", async () => {
  const page = await held.stack.signIn();
  const [cookie] = await page.context().cookies();
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, "Strict");
  assert.equal(await page.evaluate(() => document.cookie), "");
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  );
  assert.ok(!kept.includes(token));
  await page.reload();
  await page.getByRole("link", { name: "Tenants" }).waitFor();
});

test("a change without the session's CSRF token is refused", async () => {
  const page = await held.stack.signIn();
  const status = await page.evaluate(async () => {
    const answer = await fetch("/v1/tenants/acme/reset", { method: "POST", body: "{}" });
    return answer.status;
  });
  assert.equal(status, 403);
});

test("who signed in anew in another tab goes on in this one, under the same key", async () => {
  const { stack } = held;
  await stack.send("/x", { tenant: "acme" });
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/tenants/acme`);
  await page.getByRole("button", { name: "Reset" }).first().click();
  const headers = { Authorization: `Bearer ${token}` };
  await page.context().request.post(`${stack.admin}/v1/session`, { headers });
  const keys = [];
  page.on("request", (request) => {
    if (request.method() === "POST") keys.push(request.headers()["idempotency-key"]);
  });
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await page.getByText("calls of acme was reset.").first().waitFor();
  assert.equal(keys.length, 2); // refused, then with the session's new token
  assert.equal(keys[0], keys[1]);
  assert.equal(await stack.times("tenant reset"), 1);
});

test("who signs out is out, on every page", async () => {
  const page = await held.stack.signIn();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await page.getByText(/^You were signed out|session is over/).count(), 0);
  await page.goto(`${held.stack.panel}#/tenants`);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("who signed out in another window is told so", async () => {
  const page = await held.stack.signIn();
  const other = await page.context().newPage();
  await other.goto(held.stack.panel);
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You were signed out in another window.").waitFor();
  await page.getByLabel("Token").waitFor();
});

test("a sign-out that does not arrive is none", async () => {
  const page = await held.stack.signIn();
  await held.stack.kill();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are still signed in: pawl does not answer.").waitFor();
  await page.getByRole("link", { name: "Tenants" }).waitFor();
  await held.stack.serve();
  assert.ok(!page.complaints.some((each) => each.includes("Uncaught")));
});

test("a session that pawl has forgotten leads to the sign-in, and back to the page", async () => {
  const page = await held.stack.signIn();
  await page.getByRole("link", { name: "Policies" }).click();
  await page.getByRole("heading", { name: "Policies", exact: true }).waitFor();
  await held.stack.kill();
  await page.getByText("pawl does not answer.").first().waitFor();
  await held.stack.serve();
  await page.getByText("Your session is over.").waitFor();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Policies", exact: true }).waitFor();
});

test("the page runs no script but its own", async () => {
  const page = await held.stack.signIn();
  const answer = await page.request.get(held.stack.panel);
  const policy = answer.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.ok(!policy.includes("unsafe"));
  await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.textContent = "window.broken = true";
    } catch {
      return; // the browser refuses even this
    }
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.broken), undefined);
});
