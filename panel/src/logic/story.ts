// Audit records as a story: what happened, what kind of thing it was, how it went. Pure.

import { duration, plural, words } from "./format";
import type { AuditRecord, Json } from "./types";

export type Tone = "good" | "bad" | "warn" | "plain";

export interface Chapter {
  title: string;
  detail: string;
  tone: Tone;
}

const envelope = new Set([
  "seq",
  "prev",
  "hash",
  "event_type",
  "timestamp",
  "operation",
  "tenant_id",
  "request_id",
  "external_reference",
  "correlation_id",
  "trace_id",
]);

/** What is special to a record of its kind. */
export function particulars(record: AuditRecord): [string, Json][] {
  return Object.entries(record).filter(([name]) => !envelope.has(name));
}

/** By what its operation can be followed through the log. */
export function threadOf(record: AuditRecord): string {
  const names = ["correlation_id", "external_reference", "request_id", "task_id"];
  return names.map((name) => text(record, name)).find((value) => value !== "") ?? "";
}

export function chapterOf(record: AuditRecord): Chapter {
  const teller = tellers[record.event_type];
  return teller ? teller(record) : plain(words(record.event_type), record.operation);
}

type Teller = (record: AuditRecord) => Chapter;

const tellers: { [type: string]: Teller } = {
  limit: (r) =>
    r["allowed"] === false
      ? { title: "Refused by the limits", detail: text(r, "policy"), tone: "bad" }
      : { title: "Allowed by the limits", detail: text(r, "policy"), tone: "good" },
  limit_near: (r) => ({
    title: `Near the limit of ${text(r, "bucket")}`,
    detail: `${text(r, "used")} of ${text(r, "limit")} used`,
    tone: "warn",
  }),
  pace: (r) => plain("Paced", text(r, "session") || text(r, "why")),
  request: (r) => ({
    title: `Request ended: ${words(text(r, "outcome"))}`,
    detail: `${r.operation}, status ${text(r, "status")}`,
    tone: toneOfOutcome(text(r, "outcome")),
  }),
  rejected: (r) => ({ title: "Rejected at the gate", detail: text(r, "reason"), tone: "bad" }),
  config: (r) => plain(`Changed: ${r.operation}`, text(r, "changed") || text(r, "peer")),
  retry_attempt: (r) => ({
    title: `Attempt ${text(r, "attempt_number")} of ${text(r, "max_attempts")} failed`,
    detail:
      `${text(r, "exception_type")} ${text(r, "exception_message")}`.trim() +
      `; again in ${duration(Number(text(r, "delay_seconds")))}`,
    tone: "warn",
  }),
  retry_exhausted: (r) => ({
    title: `Given up after ${attempts(r)}`,
    detail: `${text(r, "final_exception_type")} ${text(r, "final_exception_message")}`.trim(),
    tone: "bad",
  }),
  retry_succeeded: (r) => ({
    title: "Succeeded",
    detail: attempts(r),
    tone: "good",
  }),
  idempotency: (r) => ({
    title: `Key: ${words(text(r, "action"))}`,
    detail: text(r, "idempotency_key"),
    tone: text(r, "action") === "mismatch" || text(r, "action") === "unknown" ? "warn" : "plain",
  }),
  breaker: (r) => ({
    title: `Breaker ${words(text(r, "state"))}`,
    detail: text(r, "breaker"),
    tone: text(r, "state") === "closed" ? "good" : "bad",
  }),
  budget: (r) => ({
    title: "No retry left in the budget",
    detail: text(r, "retry_category"),
    tone: "bad",
  }),
  hedge: (r) => plain("A second attempt beside a slow one", text(r, "retry_category")),
  operation_slept: (r) =>
    plain(
      `Sleeps until its attempt ${Number(text(r, "attempt_number")) + 1}`,
      `for ${duration(Number(text(r, "delay_seconds")))}, as task ${text(r, "task_id")}`,
    ),
  operation_resumed: (r) =>
    plain(
      "Goes on",
      `with attempt ${text(r, "attempt_number")}, ` +
        `after ${duration(Number(text(r, "slept_seconds")))}, as task ${text(r, "task_id")}`,
    ),
  reconcile: (r) => ({
    title: text(r, "found") ? `Looked for: ${words(text(r, "found"))}` : "To be looked for",
    detail: text(r, "why") || text(r, "retry_category"),
    tone: toneOfOutcome(text(r, "found")),
  }),
  quota: (r) => ({
    title: r["allowed"] === false ? "Refused by the weekly limit" : "Within the weekly limit",
    detail: `${text(r, "used")} of ${text(r, "limit")} used before it`,
    tone: r["allowed"] === false ? "bad" : "good",
  }),
  order: (r) => ({
    title: `Order ${words(text(r, "state") || r.operation)}`,
    detail: text(r, "why") || text(r, "order"),
    tone: orderTones[text(r, "state")] ?? "plain",
  }),
  task: (r) => plain(words(r.operation), text(r, "task_id")),
};

const orderTones: { [state: string]: Tone } = {
  confirmed: "good",
  rejected: "bad",
  unresolved: "bad",
  reconciling: "warn",
  sending: "plain",
};

function toneOfOutcome(outcome: string): Tone {
  if (outcome === "applied") return "good";
  return outcome === "unknown" ? "warn" : outcome === "not_applied" ? "plain" : "plain";
}

function attempts(record: AuditRecord): string {
  return plural(Number(text(record, "total_attempts")), "attempt");
}

function plain(title: string, detail: string): Chapter {
  return { title, detail, tone: "plain" };
}

function text(record: AuditRecord, name: string): string {
  const value = record[name];
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
