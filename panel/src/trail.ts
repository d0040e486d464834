// useTrail: the audit records of one operation, found piece by piece, however long the log is; then
// those that come. What became of its tasks stands in the queue's own log, whoever worked on them, and
// is read there.

import { useEffect, useState } from "preact/hooks";

import { ApiError, get, query, segment } from "./api";
import type { AuditPage, AuditRecord, TaskHistory } from "./logic/types";
import type { TaskVersion } from "./logic/versions";

export interface Trail {
  events: AuditRecord[]; // by their numbers
  versions: TaskVersion[];
  looked: number; // up to this record
  over: boolean; // all of it was read once
  error: ApiError | null;
}

const nothing: Trail = { events: [], versions: [], looked: 0, over: false, error: null };
const againMs = 5_000;
const namesMost = 16;
const taskId = /^[0-9a-f]{24}$/;

// What an operation has begun goes by a name of its own from then on.
function partsOf(event: AuditRecord): string[] {
  return ["external_reference", "task_id"]
    .map((name) => event[name])
    .filter((name) => typeof name === "string");
}

// None where it is forgotten, or was of another queue.
async function versionsOf(task: string, signal: AbortSignal): Promise<TaskVersion[]> {
  try {
    const { versions } = await get<TaskHistory>(`/v1/tasks/${segment(task)}/history`, signal);
    return versions.map((version) => ({ task, version }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** `since`: when the operation began, where that is known. Without it all of the log is read, after
 * its newest part, where most of what people ask for stands. */
export function useTrail(thread: string, since?: string): Trail {
  const [trail, setTrail] = useState<Trail>(nothing);
  useEffect(() => {
    const leaving = new AbortController();
    const found = new Map<number, AuditRecord>();
    let place: { since?: string | undefined; after?: number } = since ? { since } : { after: 0 };
    let timer = 0;
    const names = new Set([thread]);
    const tasks = new Set(taskId.test(thread) ? [thread] : []);
    const ask = (from: typeof place): Promise<AuditPage> => {
      const asked = [...names].slice(0, namesMost).join(" ");
      return get(`/v1/audit${query({ thread: asked, limit: 1000, ...from })}`, leaving.signal);
    };
    const take = (page: AuditPage): void => {
      for (const event of page.events) {
        found.set(event.seq, event);
        for (const name of partsOf(event)) names.add(name);
        if (typeof event["task_id"] === "string") tasks.add(event["task_id"]);
      }
      const events = [...found.values()].sort((a, b) => a.seq - b.seq);
      setTrail((old) => ({ ...old, events, looked: page.next, error: null }));
    };
    const goOn = async (): Promise<void> => {
      for (let more = true; more;) {
        const page = await ask(place);
        more = page.more;
        place = { after: page.next };
        take(page);
      }
      const asked = [...tasks].slice(0, namesMost);
      const versions = await Promise.all(asked.map((task) => versionsOf(task, leaving.signal)));
      setTrail((old) => ({ ...old, versions: versions.flat(), over: true }));
    };
    const look = (first: Promise<void>): void => {
      first.then(goOn).then(again, (error: unknown) => {
        if (leaving.signal.aborted || !(error instanceof ApiError)) return;
        setTrail((old) => ({ ...old, over: true, error }));
        again();
      });
    };
    const again = (): void => {
      timer = window.setTimeout(() => look(Promise.resolve()), againMs);
    };
    setTrail(nothing);
    look(since ? Promise.resolve() : ask({}).then(take));
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [thread, since]);
  return trail;
}
