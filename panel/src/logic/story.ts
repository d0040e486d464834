// Audit records as a story: what happened, what kind of thing it was, how it went. Pure.

import { capital, duration, plural, words } from "./format";
import { toneOf, type Tone } from "./tones";
import type { AuditRecord, Json } from "./types";

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

/** `refusedBy`: the bucket whose refusals are looked for. */
export function chapterOf(record: AuditRecord, refusedBy = ""): Chapter {
  if (record["allowed"] !== false && isInShadow(record, refusedBy)) {
    const title = `Would have been refused by ${refusedBy} (shadow)`;
    return { title, detail: reasonOf(record), tone: "warn" };
  }
  const teller = tellers[record.event_type];
  return teller ? teller(record) : plain(capital(words(record.event_type)), record.operation);
}

type Teller = (record: AuditRecord) => Chapter;

const tellers: { [type: string]: Teller } = {
  limit: (r) =>
    r["allowed"] === false
      ? { title: "Refused by the limits", detail: reasonOf(r), tone: "bad" }
      : { title: "Allowed by the limits", detail: reasonOf(r), tone: "good" },
  limit_near: (r) => ({
    title: `Near the limit of ${text(r, "bucket")}`,
    detail: `${text(r, "used")} of ${text(r, "limit")} used`,
    tone: "warn",
  }),
  pace: (r) => plain("Paced", text(r, "session") || text(r, "why")),
  request: (r) => ({
    title: `Request ended: ${words(text(r, "outcome"))}`,
    detail: `${r.operation}, status ${text(r, "status")}`,
    tone: toneOf(text(r, "outcome")),
  }),
  rejected: (r) => ({ title: "Rejected at the gate", detail: text(r, "reason"), tone: "bad" }),
  config: (r) =>
    plain(
      changes[r.operation] ?? `Changed: ${r.operation}`,
      text(r, "changed") || (text(r, "peer") && `by ${text(r, "peer")}`),
    ),
  retry_attempt: (r) => {
    const again = `again in ${duration(Number(text(r, "delay_seconds")))}`;
    const failed = `${text(r, "exception_type")} ${text(r, "exception_message")}`.trim();
    return {
      title:
        text(r, "attempt_number") === "0"
          ? `Not sent: ${breakerOpen}`
          : `Attempt ${text(r, "attempt_number")} of ${text(r, "max_attempts")} failed`,
      detail: failed === "" ? again : `${failed}; ${again}`,
      tone: "warn",
    };
  },
  retry_exhausted: (r) => {
    const why = reasonCode(r) === "breaker_open" ? breakerOpen : words(reasonCode(r));
    const type = text(r, "final_exception_type");
    const failed = `${type} ${text(r, "final_exception_message")}`.trim();
    const wasTried = text(r, "total_attempts") !== "0";
    if (why === breakerOpen && (isDelivery(r) || !wasTried)) {
      const later = "it waits, and is sent once the breaker lets calls through";
      return {
        title: `Not sent${wasTried ? " again" : ""}: ${breakerOpen}`,
        detail: isDelivery(r) ? later : failed,
        tone: isDelivery(r) ? "warn" : "bad",
      };
    }
    return { title: `Given up after ${attempts(r)}`, detail: failed || why, tone: "bad" };
  },
  retry_succeeded: (r) => ({
    title: "Succeeded",
    detail: attempts(r),
    tone: "good",
  }),
  idempotency: (r) => ({
    title:
      (isDelivery(r) ? deliveryWords[text(r, "action")] : undefined) ??
      keyWords[text(r, "action")] ??
      `Key: ${words(text(r, "action"))}`,
    detail: text(r, "idempotency_key"),
    tone: text(r, "action") === "mismatch" || text(r, "action") === "unknown" ? "warn" : "plain",
  }),
  breaker: (r) => ({
    title: `Breaker ${words(text(r, "state"))}`,
    detail: text(r, "breaker"),
    tone: toneOf(text(r, "state")),
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
    title: text(r, "found")
      ? `Looked for: ${foundWords[text(r, "found")] ?? words(text(r, "found"))}`
      : "To be looked for",
    detail: text(r, "why") || text(r, "retry_category"),
    tone: toneOf(text(r, "found")),
  }),
  quota: (r) => ({
    title: r["allowed"] === false ? "Refused by the weekly limit" : "Within the weekly limit",
    detail: `${text(r, "used")} of ${text(r, "limit")} used before it`,
    tone: r["allowed"] === false ? "bad" : "good",
  }),
  order: (r) => ({
    title: `Order ${words(text(r, "state") || r.operation)}`,
    detail: text(r, "why") || text(r, "order"),
    // That it was sent is a step as any other; to be in the midst of it is not.
    tone: text(r, "state") === "sending" ? "plain" : toneOf(text(r, "state")),
  }),
  task: (r) =>
    plain(
      changes[r.operation] ?? capital(words(r.operation)),
      text(r, "task_id") || `${text(r, "scope")} ${text(r, "name")}`.trim(),
    ),
};

const changes: { [operation: string]: string } = {
  "order place": "An order was asked for",
  "tenant reset": "A limit was reset",
  "tenant plan": "A plan was changed",
  "webhook emit": "An event was given for webhooks",
  "task submit": "A task was asked for",
  "task cancel": "A cancel was asked for",
  "task replay": "A replay was asked for",
  "queue close": "A closing was set",
  "queue limit": "A limit of the queue was set",
  "queue schedule": "A schedule was set",
};

const foundWords: { [found: string]: string } = {
  applied: "it was done",
  not_applied: "it was not done",
  unknown: "not known",
};

const keyWords: { [action: string]: string } = {
  hit: "Key known: replayed",
  record: "Answer kept",
  in_flight: "Key in use by another",
  mismatch: "Key of another request",
  stale: "Key lost to another",
  take_over: "Key taken over",
  unknown: "Key of unknown end",
  unavailable: "Key store is away",
  not_recorded: "End of the key not kept",
  clear: "Key forgotten",
  settle: "Key settled by a person",
};

// The key of a delivery keeps how far it came, and no answer.
const deliveryWords: { [action: string]: string } = {
  record: "Delivery noted",
  take_over: "Delivery taken up again",
};

const breakerOpen = "the circuit breaker is open";

function isDelivery(record: AuditRecord): boolean {
  return record.operation === "webhook";
}

function reasonCode(record: AuditRecord): string {
  const decision = record["decision"];
  if (typeof decision !== "object" || decision === null || Array.isArray(decision)) return "";
  return String(decision["reason"] ?? "");
}

/** The order that a record is of; "" for others. */
export function orderOf(record: AuditRecord): string {
  return text(record, "external_reference");
}

/** Whether that bucket would have refused it, were it not in shadow. */
export function isInShadow(record: AuditRecord, bucket: string): boolean {
  return shadowsOf(record).includes(bucket);
}

function shadowsOf(record: AuditRecord): string[] {
  const policies = Array.isArray(record["policies"]) ? record["policies"] : [];
  return policies.flatMap((each) => {
    const policy = each as { [name: string]: Json };
    return policy["shadow"] === true && policy["allowed"] === false ? [String(policy["name"])] : [];
  });
}

// Why a request was let through or not, and which buckets in shadow would have said no.
function reasonOf(record: AuditRecord): string {
  const shadows = shadowsOf(record);
  const why = text(record, "why") || text(record, "policy");
  // pawl's own words for operators name them already.
  if (shadows.length === 0 || why.includes("would have refused")) return why;
  const told = `${shadows.join(", ")}, in shadow, would have refused it`;
  return why === "" ? told : `${why.replace(/[.;]$/, "")}; ${told}`;
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
