// What is known of one key, and what can be done about it: settle it, forget it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { plural, shortened } from "../logic/format";
import type { Json, KeptRecord } from "../logic/types";
import { Badge, Facts, Notice, TenantLink, Time } from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";
import { HowKnown } from "../ui/fields";

type Wanted = "forget" | "done" | "failed" | null;

export function RecordDialog(props: {
  record: KeptRecord;
  close: () => void;
  done: (text: string) => void;
}): JSX.Element {
  const { record } = props;
  const [wanted, setWanted] = useState<Wanted>(null);
  return (
    <Dialog title={shortened(record.key, 48)} close={props.close}>
      <Facts
        of={[
          ["Key", <span class="mono wrap">{record.key}</span>],
          ["State", <Badge status={record.status} />],
          ["Tenant", <TenantLink tenant={record.tenant} />],
          ["Request", record.method ? `${record.method} ${record.path}` : "a program's own"],
          ["First seen", <Time at={record.created_at} as="full" />],
          ["Expires", <Time at={record.expires_at} as="full" />],
          ["Replays", record.replays === 0 ? "never" : plural(record.replays, "time")],
          ["Lease until", record.lease_until && <Time at={record.lease_until} as="full" />],
          ["Answer", record.tombstone && "not kept"],
        ]}
      />
      {wanted === null && record.tenant !== "" && <Ways record={record} choose={setWanted} />}
      {record.tenant === "" && <p class="faint">It is pawl's own, and settles by itself.</p>}
      {wanted === "forget" && <Forget {...props} back={() => setWanted(null)} />}
      {(wanted === "done" || wanted === "failed") && (
        <Settle {...props} as={wanted} back={() => setWanted(null)} />
      )}
    </Dialog>
  );
}

function Ways(props: { record: KeptRecord; choose: (wanted: Wanted) => void }): JSX.Element {
  return (
    <>
      {props.record.status === "unknown" && (
        <Notice tone="warn">
          Nobody knows whether this write was executed. Find out at the service behind, then say so.
        </Notice>
      )}
      <div class="buttons">
        {props.record.status === "unknown" && (
          <>
            <button type="button" class="primary" onClick={() => props.choose("done")}>
              It was executed
            </button>
            <button type="button" class="primary" onClick={() => props.choose("failed")}>
              It was not
            </button>
          </>
        )}
        <button type="button" class="danger" onClick={() => props.choose("forget")}>
          Forget the key
        </button>
      </div>
    </>
  );
}

interface Deeds {
  record: KeptRecord;
  done: (text: string) => void;
  back: () => void;
}

function nameOf({ key, tenant, method, path }: KeptRecord): string {
  const owner = tenant === "" ? [] : ["of", tenant];
  return [key, ...owner, method, path].filter((part) => part !== null).join(" ");
}

// In the body: a browser takes a key that is `.` or `..` out of a path.
function namesOf(record: KeptRecord): { [name: string]: Json } {
  const { tenant, key, method, path } = record;
  return { tenant, key, ...(method !== null && path !== null ? { method, path } : {}) };
}

function Forget({ record, done, back }: Deeds): JSX.Element {
  const inFlight = record.status === "in_flight";
  return (
    <DeedForm
      name={`Forget the key ${nameOf(record)}`}
      action="Forget it"
      danger
      close={back}
      done={() => done("The key was forgotten.")}
      ask={() => ({
        method: "POST",
        path: "/v1/idempotency/forget",
        body: { ...namesOf(record), ...(inFlight ? { force: true } : {}) },
      })}
    >
      <p>
        The next request with this key is executed, as if it had never been used.
        {inFlight && <strong> It is in flight: the write may then happen twice.</strong>}
      </p>
    </DeedForm>
  );
}

function Settle({ record, done, back, as }: Deeds & { as: "done" | "failed" }): JSX.Element {
  const [reason, setReason] = useState("");
  return (
    <DeedForm
      name={`Settle the key ${nameOf(record)}`}
      action="Put on record"
      close={back}
      done={() => done("The outcome is on record.")}
      ask={() => ({
        method: "POST",
        path: "/v1/idempotency/settle",
        body: { ...namesOf(record), as, reason },
      })}
    >
      <p>
        {as === "done"
          ? "It was executed: repetitions are told so, without an answer to replay."
          : "It was not executed: the next request with the key is."}
      </p>
      <HowKnown value={reason} change={setReason} />
    </DeedForm>
  );
}
