// Asks the admin API. The cookie of the session goes along by itself; what changes something
// carries the session's CSRF token, and an Idempotency-Key where the caller has one.

import type { Json, Session } from "./logic/types";

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer came
    readonly code: string, // of an order's own answer, its state
    message: string,
  ) {
    super(message);
  }

  /** Whether what was asked for may have been done all the same. */
  get isLost(): boolean {
    return this.status === 0 || this.status >= 500;
  }

  /** pawl was restarted since the run that was named, and knows no key of before. */
  get isForgotten(): boolean {
    return this.code === "ERR_IDEMPOTENCY_KEY_FORGOTTEN";
  }

  /** Whether it is about what was asked for; else this asking alone was turned away. */
  get isVerdict(): boolean {
    // The gate locks out with 429 too; the weekly limit says what became of the order.
    if (this.status === 429) return this.code === "denied";
    return ![401, 403].includes(this.status) && this.code !== "ERR_IDEMPOTENCY_IN_FLIGHT";
  }
}

export interface Answer {
  status: number;
  body: Json;
  replayed: boolean;
}

export interface Change {
  method: "POST" | "PUT" | "DELETE";
  path: string;
  body?: Json;
  key?: string;
  run?: string | null; // of pawl, in which the key may have been used before
  outlives?: boolean; // it has a name of its own, made of the key, that no restart forgets
  bearer?: string; // to sign in
}

const answerWaitMs = 30_000;
const changeWaitMs = 120_000; // an order waits for its pace, and for the venue

let csrf: string | null = null;
let run: string | null = null;
let signedOut: () => void = () => {};

export function useSession(session: Session | null): void {
  csrf = session?.csrf ?? null;
  run = session?.run ?? null;
}

/** Of pawl, as it was last heard. */
export function currentRun(): string | null {
  return run;
}

export async function renewSession(): Promise<void> {
  useSession(await get<Session>("/v1/session"));
}

export function onSignedOut(then: () => void): void {
  signedOut = then;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const timeout = AbortSignal.timeout(answerWaitMs);
  const answer = await exchange(path, { signal: either(signal, timeout) });
  signal?.throwIfAborted(); // whoever asked has left
  return answer.body as T;
}

/** Turned away for a token that has changed meanwhile, it is asked once more, under its key. */
export async function change(wanted: Change): Promise<Answer> {
  try {
    return await send(wanted);
  } catch (error) {
    if (!hasStatus(error, 403) || wanted.bearer !== undefined) throw error;
    if (!(await hasNewToken(error))) throw error;
    return send(wanted);
  }
}

// Who signs in anew in another tab changes the cookie of all, and the token of that tab alone.
async function hasNewToken(refusal: unknown): Promise<boolean> {
  const before = csrf;
  try {
    await renewSession();
  } catch (error) {
    throw hasStatus(error, 401) ? error : refusal;
  }
  return csrf !== before;
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

async function send(wanted: Change): Promise<Answer> {
  const headers: { [name: string]: string } = {};
  if (csrf !== null) headers["X-Pawl-Csrf"] = csrf;
  if (wanted.key !== undefined) headers["Idempotency-Key"] = wanted.key;
  if (wanted.run) headers["X-Pawl-Run"] = wanted.run;
  if (wanted.bearer !== undefined) headers["Authorization"] = `Bearer ${wanted.bearer}`;
  const request: RequestInit = {
    method: wanted.method,
    headers,
    signal: AbortSignal.timeout(changeWaitMs),
  };
  if (wanted.body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(wanted.body);
  }
  return exchange(wanted.path, request);
}

async function exchange(path: string, request: RequestInit): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...request, credentials: "same-origin", redirect: "error" });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    const late = error instanceof DOMException && error.name === "TimeoutError";
    throw new ApiError(0, "", late ? "No answer came in time." : "pawl does not answer.");
  }
  const body = parsed(text);
  if (response.ok) {
    return { status: response.status, body, replayed: response.headers.has("Idempotent-Replay") };
  }
  if (response.status === 401) signedOut();
  throw errorOf(response.status, body);
}

/** What was thrown, as an answer that did not come. */
export function asError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError(0, "", String(thrown));
}

export function errorOf(status: number, body: Json): ApiError {
  const problem = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
  const said = problem["detail"] ?? problem["message"] ?? problem["title"];
  const code = [problem["code"], problem["status"]].find((each) => typeof each === "string");
  const words = said ? String(said) : `pawl answered with ${status}.`;
  return new ApiError(status, String(code ?? ""), words);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

// AbortSignal.any is younger than the browsers we mean.
function either(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  if (first === undefined) return second;
  const both = new AbortController();
  for (const signal of [first, second]) {
    if (signal.aborted) both.abort(signal.reason);
    signal.addEventListener("abort", () => both.abort(signal.reason), { once: true });
  }
  return both.signal;
}

export function query(values: { [name: string]: string | number | undefined }): string {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : "";
}

export function segment(name: string): string {
  return encodeURIComponent(name);
}
