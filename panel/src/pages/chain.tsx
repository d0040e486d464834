// Whether the audit log is as it was written: pawl reads it a piece at a time, so that the page
// stays alive on a long log, and judges as `pawl audit verify` does.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, get, query } from "../api";
import { count, plural } from "../logic/format";
import { Badge, Time } from "../ui/basics";

interface Piece {
  check: number;
  records: number; // that are as they were written, so far
  anchor: number | null; // the record that the log must reach
  more: boolean;
  broken: { fault: string; file: string; line: number; reason: string } | null;
}

type Verdict =
  | { state: "idle" }
  | { state: "looking"; records: number }
  | { state: "over"; found: Piece; at: string }
  | { state: "error"; reason: string };

async function verify(signal: AbortSignal, tell: (verdict: Verdict) => void): Promise<void> {
  let check: number | undefined;
  for (;;) {
    const found: Piece = await get(`/v1/audit/chain${query({ check })}`, signal);
    if (!found.more) return tell({ state: "over", found, at: new Date().toISOString() });
    check = found.check;
    tell({ state: "looking", records: found.records });
  }
}

export function ChainMark(): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict>({ state: "idle" });
  const leaving = useRef(new AbortController());
  const look = (): void => {
    setVerdict({ state: "looking", records: 0 });
    verify(leaving.current.signal, setVerdict).catch((error: unknown) => {
      if (error instanceof ApiError) setVerdict({ state: "error", reason: error.message });
    });
  };
  useEffect(() => {
    look();
    return () => leaving.current.abort();
  }, []);
  return (
    <span class="chain" role="status">
      <Mark verdict={verdict} />
      {verdict.state !== "looking" && (
        <button type="button" class="quiet" onClick={look}>
          Verify again
        </button>
      )}
    </span>
  );
}

function Mark({ verdict }: { verdict: Verdict }): JSX.Element | null {
  switch (verdict.state) {
    case "idle":
      return null;
    case "looking":
      return <Badge status="looking" text={`Verifying, ${plural(verdict.records, "record")}`} />;
    case "over":
      return (
        <>
          <Found found={verdict.found} />
          <span class="faint">
            <Time at={verdict.at} as="age" />
          </span>
        </>
      );
    case "error":
      return <Badge status="degraded" text={`Not verified: ${verdict.reason}`} />;
  }
}

function Found({ found }: { found: Piece }): JSX.Element {
  if (found.broken) {
    const { file, reason } = found.broken;
    return (
      <span title={file}>
        <Badge
          status="down"
          text={`Chain broken, ${count(found.records)} good before it: ${reason}`}
        />
      </span>
    );
  }
  if (found.records === 0) return <Badge status="ok" text="The log is empty" />;
  const text = `Chain verified, ${plural(found.records, "record")}`;
  return found.anchor === null ? (
    <Badge status="degraded" text={`${text}; no anchor shows whether its end is there`} />
  ) : (
    <Badge status="ok" text={text} />
  );
}
