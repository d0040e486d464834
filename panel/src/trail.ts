// useTrail: the audit records of one operation, found piece by piece, however long the log is; then
// those that come. What became of its tasks stands in the queue's own log, whoever worked on them,
// and is read there.

import { useEffect, useState } from "preact/hooks";

import { ApiError, get, query, segment } from "./api";
import type { AuditPage, AuditRecord, TaskHistory } from "./logic/types";
import type { TaskVersion } from "./logic/versions";
import { whileSeen } from "./while_seen";

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
    const found = new Map<number, AuditRecord>();
    const start: Place = since ? { since } : { after: 0 };
    let place: Place | null = null; // nothing was read yet
    const names = new Set([thread]);
    let known = 1; // names that it was looked for by, from the start to its place
    const followed = (): string[] => [...names].slice(0, namesMost);
    const read = async (from: Place, signal: AbortSignal): Promise<AuditPage> => {
      const asked = { thread: followed().join(" "), limit: 1000, ...from };
      const page = await get<AuditPage>(`/v1/audit${query(asked)}`, signal);
      for (const event of page.events) {
        found.set(event.seq, event);
        for (const name of partsOf(event)) names.add(name);
      }
      const events = [...found.values()].sort((a, b) => a.seq - b.seq);
      setTrail((old) => ({ ...old, events, names: names.size, looked: page.next, error: null }));
      return page;
    };
    setTrail(nothing);
    return whileSeen({
      ask: async (signal) => {
        if (place === null && !since) {
          await read({}, signal); // the newest
          known = followed().length;
        }
        place ??= start;
        for (let more = true; more;) {
          const page = await read(place, signal);
          more = page.more;
          place = { after: page.next };
          if (more || followed().length === known) continue;
          // What goes by a name that was found on the way may stand in a piece that was read.
          more = true;
          known = followed().length;
          place = start;
        }
        const tasks = followed().filter((name) => taskId.test(name));
        const versions = await Promise.all(tasks.map((task) => versionsOf(task, signal)));
        setTrail((old) => ({ ...old, versions: versions.flat(), over: true }));
      },
      failed: (error) => setTrail((old) => ({ ...old, over: true, error })),
      waitMs: () => againMs,
    });
  }, [thread, since]);
  return trail;
}
