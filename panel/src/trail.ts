// useTrail: the audit records of one operation, found piece by piece, however long the log is; then
// those that come. What became of its tasks stands in the queue's own log, whoever worked on them,
// and is read there.

import { useEffect, useState } from "preact/hooks";

import { ApiError, get, query, segment } from "./api";
import type { AuditPage, AuditRecord, TaskHistory } from "./logic/types";
import type { TaskVersion } from "./logic/versions";

export interface Trail {
  events: AuditRecord[]; // by their numbers
  versions: TaskVersion[];
  names: number; // that it goes by
  looked: number; // up to this record
  over: boolean; // all of it was read once
  error: ApiError | null;
}

interface Place {
  since?: string;
  after?: number;
}

const nothing: Trail = {
  events: [],
  versions: [],
  names: 1,
  looked: 0,
  over: false,
  error: null,
};
const againMs = 5_000;
export const namesMost = 16; // that are followed: pawl takes no more in one question
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
    const start: Place = since ? { since } : { after: 0 };
    let place = start;
    let timer = 0;
    const names = new Set([thread]);
    let known = 1; // names that it was looked for by, from the start to its place
    const followed = (): string[] => [...names].slice(0, namesMost);
    const ask = (from: Place): Promise<AuditPage> => {
      const asked = { thread: followed().join(" "), limit: 1000, ...from };
      return get(`/v1/audit${query(asked)}`, leaving.signal);
    };
    const take = (page: AuditPage): void => {
      for (const event of page.events) {
        found.set(event.seq, event);
        for (const name of partsOf(event)) names.add(name);
      }
      const events = [...found.values()].sort((a, b) => a.seq - b.seq);
      setTrail((old) => ({
        ...old,
        events,
        names: names.size,
        looked: page.next,
        error: null,
      }));
    };
    const goOn = async (): Promise<void> => {
      for (let more = true; more;) {
        const page = await ask(place);
        take(page);
        more = page.more;
        place = { after: page.next };
        if (more || followed().length === known) continue;
        // What goes by a name that was found on the way may stand in a piece that was read by then.
        more = true;
        known = followed().length;
        place = start;
      }
      const tasks = followed().filter((name) => taskId.test(name));
      const versions = await Promise.all(tasks.map((task) => versionsOf(task, leaving.signal)));
      setTrail((old) => ({ ...old, versions: versions.flat(), over: true }));
    };
    const look = (first: Promise<void>): void => {
      first.then(goOn).then(again, (error: unknown) => {
        if (leaving.signal.aborted || !(error instanceof ApiError)) return;
        setTrail((old) => ({ ...old, over: true, error }));
        again();
      });
    };
    // Nobody looks at a page that is hidden.
    const again = (): void => {
      const next = (): void => (document.hidden ? again() : look(Promise.resolve()));
      timer = window.setTimeout(next, againMs);
    };
    const takeNewest = async (): Promise<void> => {
      take(await ask({}));
      known = followed().length;
    };
    setTrail(nothing);
    look(since ? Promise.resolve() : takeNewest());
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [thread, since]);
  return trail;
}
