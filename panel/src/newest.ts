// The newest records of a kind, however far back they stand: pawl reads a piece of the log a call,
// so the page goes back piece by piece, and then on with what comes.

import { useEffect, useState } from "preact/hooks";

import { asError, get, query, type ApiError } from "./api";
import type { AuditPage, AuditRecord } from "./logic/types";
import type { Resource } from "./resource";
import { whileSeen } from "./while_seen";

export interface Newest {
  events: AuditRecord[]; // the newest first
  from: number; // the first record that was looked at
  fromAt: string | null;
  earlier: boolean; // something stands before it
  looking: boolean; // back, just now
}

export const newestMost = 1000;
const piecesMost = 16; // read back before one is asked whether to go on
const againMs = 3_000;

function added(old: AuditRecord[], more: AuditRecord[]): AuditRecord[] {
  const all = new Map([...old, ...more].map((event) => [event.seq, event]));
  return [...all.values()].sort((a, b) => b.seq - a.seq).slice(0, newestMost);
}

/** Null until something is known. `goBack` looks further, `refresh` begins anew. */
export function useNewest(
  type: string,
  refused_by: string,
): Resource<Newest> & { goBack: () => void } {
  const [kept, setKept] = useState<{ filter: string; newest: Newest } | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [begun, setBegun] = useState(0);
  const [back, setBack] = useState(0);
  const filter = `${type}\n${refused_by}`;
  const newest = kept?.filter === filter ? kept.newest : null;

  const tell = (change: (old: Newest | null) => Newest | null): void =>
    setKept((old) => {
      const next = change(old?.filter === filter ? old.newest : null);
      return next && { filter, newest: next };
    });

  // Forwards, with what comes.
  useEffect(() => {
    let after: number | undefined;
    return whileSeen({
      ask: async (signal) => {
        for (let more = true; more;) {
          const asked = { limit: newestMost, type, refused_by, after };
          const page = await get<AuditPage>(`/v1/audit${query(asked)}`, signal);
          const isFirst = after === undefined;
          ({ more, next: after } = page);
          tell((old) => ({
            from: page.from ?? 0,
            fromAt: page.from_at ?? null,
            earlier: page.earlier ?? false,
            looking: false,
            ...(isFirst ? {} : old),
            events: added(isFirst ? [] : (old?.events ?? []), page.events),
          }));
          setFailed(null);
        }
      },
      failed: setFailed,
      waitMs: () => againMs,
    });
  }, [filter, begun]);

  // Backwards, until there are enough.
  const isThere = newest !== null;
  useEffect(() => {
    if (newest === null) return;
    const leaving = new AbortController();
    const look = async (): Promise<void> => {
      let { earlier, from } = newest;
      let found = newest.events.length;
      for (let i = 0; i < piecesMost && earlier && found < newestMost; ++i) {
        tell((old) => old && { ...old, looking: true });
        const asked = { limit: newestMost, type, refused_by, before: from };
        const page = await get<AuditPage>(`/v1/audit${query(asked)}`, leaving.signal);
        from = page.from ?? 0;
        earlier = page.earlier ?? false;
        found += page.events.length;
        const at = { from, fromAt: page.from_at ?? null, earlier };
        tell((old) => old && { ...old, ...at, events: added(old.events, page.events) });
      }
      tell((old) => old && { ...old, looking: false });
    };
    look().catch((error: unknown) => {
      if (leaving.signal.aborted) return;
      setFailed(asError(error));
      tell((old) => old && { ...old, looking: false });
    });
    return () => leaving.abort();
  }, [filter, begun, back, isThere]);

  return {
    data: newest,
    error: failed,
    goBack: () => setBack((n) => n + 1),
    refresh: () => setBegun((n) => n + 1),
  };
}
