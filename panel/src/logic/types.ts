// What the admin API answers, as far as the panel reads it. docs/admin-api.md says what it means.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Session {
  csrf: string | null; // null: no token is asked for here
  version: string;
  run: string; // of pawl: another one knows none of its keys
  trading: boolean; // orders may be placed and cancelled from here
  upgrade: { text: string; link: string } | null;
  orders: boolean;
  venues: string[];
  tasks: boolean;
  audit: boolean;
}

interface StoreState {
  name: string;
  state: "ok" | "degraded" | "down";
  durability: string | null; // null: nothing is known of it
  seen: string | null; // what that was found by
  probed_at: string | null;
  detail: string | null;
}

export interface Quota {
  used: number;
  limit: number;
  week_start: string;
  enabled: boolean;
  remaining: number | null;
  next_week: string;
}

interface QueueNumbers {
  pending: number;
  due: number;
  running: number;
  failed: number;
  oldest_due_seconds: number;
}

export interface Overview {
  at: string;
  rates: { allowed: number; refused: number; replayed: number };
  retries: {
    last_minute: number;
    alert: boolean;
    categories: { [code: string]: number };
  };
  queue: QueueNumbers | null;
  orders: { unresolved: number; left_open: number; under_way: number; quota: Quota | null } | null;
  idempotency: { unknown: number | null }; // null: the store was not asked yet
  breakers: { name: string; state: string; since: string }[];
  stores: StoreState[];
  ready: boolean;
  detail: string | null; // why it is not ready, or what is degraded
}

export interface Series {
  step_seconds: number;
  times: number[]; // seconds since 1970
  series: { [name: string]: (number | null)[] };
}

export interface BucketUsage {
  bucket: string;
  scope: string;
  limit: number;
  used: number;
  remaining: number;
  reset_seconds: number;
  near: boolean;
  shadow: boolean;
  plan: string;
  next_plan: string | null;
}

export interface TenantUsage {
  tenant: string;
  plan: string;
  next_plan: string | null;
  buckets: BucketUsage[];
}

export interface SeenTenant {
  tenant: string;
  plan: string;
  last_seen: string | null; // null: not since the start
}

export interface UsagePage {
  tenants: TenantUsage[];
  next: string | null;
}

export interface UsageHistory {
  step_seconds: number;
  times: number[];
  buckets: { bucket: string; used: (number | null)[]; limit: (number | null)[] }[];
}

type RecordStatus = "in_flight" | "done" | "failed" | "unknown";

export interface KeptRecord {
  tenant: string;
  key: string;
  method: string | null;
  path: string | null;
  status: RecordStatus;
  created_at: string;
  expires_at: string;
  lease_until: string | null;
  replays: number;
  tombstone: boolean;
}

export interface Hit {
  at: string;
  what: string;
  tenant: string;
  operation: string;
  key: string;
}

export interface Evidence {
  at: string;
  source: string;
  says: string;
}

type OrderStatus = "sending" | "reconciling" | "unresolved" | "confirmed" | "rejected";

export interface Intent {
  external_reference: string;
  venue: string;
  status: OrderStatus;
  order_id: string;
  attempts: number;
  evidence: Evidence[];
  life: string;
  reason: string;
  request_id: string;
  created_at: string;
  counts: boolean;
  order: { [term: string]: Json };
}

export interface Placed {
  external_reference: string;
  venue: string;
  status: "confirmed" | "rejected" | "denied" | "unresolved";
  order_id: string;
  attempts: number;
  life: string;
  message: string;
  evidence: Evidence[];
  created_at: string;
  counts: boolean;
  order: { [term: string]: Json };
}

/** What came of a cancel or a change of an order. */
export interface Changed {
  answer: string;
  life: string;
  message: string;
}

type TaskStatus = "pending" | "running" | "completed" | "failed" | "cancelled" | "expired";

export interface Task {
  id: string;
  task_type: string;
  status: TaskStatus;
  input: Json;
  output: Json;
  key: string | null;
  unique: string | null;
  priority: number;
  timeout_seconds: number | string;
  retry_count: number;
  max_retries: number;
  reschedule_count: number;
  max_reschedules: number | null;
  available_at: string;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
  expires_at: string | null;
  lease_expires_at: string | null;
  worker_id: string | null;
  last_error: string | null;
  cancel_requested: boolean;
}

export interface Version {
  version: number;
  at: string;
  status: TaskStatus;
  reason: string;
  worker_id: string | null;
  delay_seconds: number | null;
  count: number;
  detail: string | null;
}

export interface TaskHistory {
  left_out: number; // older versions
  versions: Version[];
}

export interface Why {
  hold: "is_over" | "running" | "not_due" | "closed" | "rate" | "concurrency" | "waits";
  scope: string | null;
  name: string | null;
  until: string | null;
  ahead: number;
  worker: string | null;
}

export interface Closing {
  scope: string;
  name: string | null;
  until: string;
}

export interface AuditRecord {
  seq: number;
  event_type: string;
  timestamp: string;
  operation: string;
  [name: string]: Json;
}

export interface AuditPage {
  events: AuditRecord[];
  more: boolean;
  next: number;
  // Of the newest alone: how far back was looked.
  from?: number;
  from_at?: string | null;
  earlier?: boolean; // something stands before it
}

export interface RetryPolicy {
  category: string;
  own: boolean;
  changed: string[];
  [name: string]: Json;
}

export interface LimitPolicy {
  name: string;
  match: string;
  scope: string;
  algorithm: string;
  rule: string;
  shadow: boolean;
  shadow_refusals: number;
  refusals: number;
}

export interface Policies {
  retry: RetryPolicy[];
  limits: LimitPolicy[];
  plans: { plan: string; rates: { bucket: string; rate: string }[]; next_plan: string | null }[];
}
