// Writes with a key: what is remembered of them, and which were answered without being executed.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { query } from "../api";
import { useFilter, useSettled } from "../hooks";
import { count, plural, shortened, words } from "../logic/format";
import { href, type Route } from "../logic/route";
import type { Hit, Json, KeptRecord } from "../logic/types";
import { useResource } from "../resource";
import {
  Badge,
  Choice,
  Empty,
  Facts,
  Failure,
  Loading,
  Notice,
  Search,
  Tile,
  Time,
} from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";
import { Table, type Column } from "../ui/table";
import { tell } from "../ui/toast";

interface Listed {
  records: KeptRecord[];
  hits: Hit[];
}

interface Stats {
  counts: { [what: string]: number };
  store: { durability: string; available: boolean };
}

const shows = [
  ["records", "Records"],
  ["unknown", "Not known"],
  ["hits", "Not executed again"],
] as const;
const first = ["executed", "replayed", "mismatch", "in_flight", "unknown"];

export function IdempotencyPage({ route }: { route: Route }): JSX.Element {
  const [tenant, setTenant] = useFilter(route, "tenant");
  const [key, setKey] = useFilter(route, "key");
  const [shown, setShow] = useFilter(route, "show");
  const show = shows.find(([each]) => each === shown)?.[0] ?? "records";
  const [chosen, setChosen] = useState<KeptRecord | null>(null);
  const wantedTenant = useSettled(tenant.trim());
  const wantedKey = useSettled(key.trim());
  const status = show === "unknown" ? show : "";
  const asked = query({ limit: 1000, tenant: wantedTenant, key: wantedKey, status });
  const { data, error, refresh } = useResource<Listed>(
    `/v1/idempotency${asked}`,
    wantedKey === "" ? 5_000 : 30_000, // by a part of a key, the store looks at all it has
  );
  const records = data?.records ?? [];
  const hits = data?.hits ?? [];
  return (
    <>
      <div class="page-head">
        <h1>Idempotency</h1>
      </div>
      <Counts />
      <div class="tools">
        <Search label="Tenant" hint="Tenant, whole name" value={tenant} change={setTenant} />
        <Search label="Key" hint="Part of key or path" value={key} change={setKey} />
        <Choice label="What" value={show} choose={setShow} of={shows} />
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={8} />
      ) : show === "hits" ? (
        <Hits hits={hits} />
      ) : (
        <Records
          records={records}
          filtered={show === "unknown" || wantedTenant !== "" || wantedKey !== ""}
          choose={setChosen}
        />
      )}
      {chosen && (
        <RecordDialog
          record={chosen}
          close={() => setChosen(null)}
          done={(text) => {
            setChosen(null);
            tell(text);
            refresh();
          }}
        />
      )}
    </>
  );
}

function Counts(): JSX.Element | null {
  const { data } = useResource<Stats>("/v1/idempotency/stats", 5_000);
  if (data === null) return null;
  return (
    <section class="tiles small" aria-label="Since the start">
      {first.map((what) => (
        <Tile
          key={what}
          name={words(what)}
          value={count(data.counts[what] ?? 0)}
          tone={what === "unknown" && (data.counts[what] ?? 0) > 0 ? "warn" : "plain"}
        />
      ))}
    </section>
  );
}

function recordColumns(choose: (record: KeptRecord) => void): Column<KeptRecord>[] {
  return [
    {
      id: "key",
      title: "Key",
      width: "minmax(8rem, 2fr)",
      value: (row) => row.key,
      cell: (row) => (
        <span class="stack">
          <button type="button" class="link" title={row.key} onClick={() => choose(row)}>
            {shortened(row.key, 36)}
          </button>
          <span class="sub">{row.tenant}</span>
        </span>
      ),
    },
    {
      id: "tenant",
      title: "Tenant",
      width: "minmax(6rem, 1fr)",
      wideOnly: true,
      value: (row) => row.tenant,
      cell: (row) => <a href={href("tenants", [row.tenant])}>{row.tenant}</a>,
    },
    {
      id: "what",
      title: "Request",
      width: "minmax(7rem, 1.5fr)",
      wideOnly: true,
      value: (row) => `${row.path} ${row.method}`,
      cell: (row) =>
        row.method ? (
          <span class="mono">
            {row.method} {row.path}
          </span>
        ) : (
          <span class="faint">a program's own</span>
        ),
    },
    {
      id: "status",
      title: "State",
      width: "minmax(7rem, 0.8fr)",
      narrow: "6.7rem",
      value: (row) => row.status,
      cell: (row) => <Badge status={row.status} />,
    },
    {
      id: "replays",
      title: "Replays",
      width: "minmax(4.5rem, 0.5fr)",
      right: true,
      downFirst: true,
      wideOnly: true,
      value: (row) => row.replays,
      cell: (row) => count(row.replays),
    },
    {
      id: "age",
      title: "Age",
      width: "minmax(6rem, 0.8fr)",
      narrow: "4.4rem",
      right: true,
      downFirst: true,
      value: (row) => row.created_at,
      cell: (row) => <Time at={row.created_at} as="since" />,
    },
    {
      id: "expires",
      title: "Expires",
      width: "minmax(6.5rem, 0.8fr)",
      right: true,
      wideOnly: true,
      value: (row) => row.expires_at,
      cell: (row) => <Time at={row.expires_at} as="since" />,
    },
  ];
}

function Records(props: {
  records: KeptRecord[];
  filtered: boolean;
  choose: (record: KeptRecord) => void;
}): JSX.Element {
  const columns = useMemo(() => recordColumns(props.choose), []);
  return (
    <Table
      label="Records"
      columns={columns}
      rows={props.records}
      open={props.choose}
      keyOf={(row) => [row.tenant, row.key, row.method, row.path, row.created_at].join("\n")}
      empty={
        props.filtered ? (
          <Empty title="None is like that">No record fits what is asked for.</Empty>
        ) : (
          <Empty title="No records">
            A write with an <code>Idempotency-Key</code> leaves one.
          </Empty>
        )
      }
    />
  );
}

const hitColumns: Column<Hit>[] = [
  {
    id: "at",
    title: "When",
    width: "minmax(6rem, 0.7fr)",
    narrow: "4.4rem",
    downFirst: true,
    value: (row) => row.at,
    cell: (row) => <Time at={row.at} as="since" />,
  },
  {
    id: "what",
    title: "Answer",
    width: "minmax(7rem, 0.8fr)",
    narrow: "7.2rem",
    value: (row) => row.what,
    cell: (row) => <Badge status={row.what} />,
  },
  {
    id: "tenant",
    title: "Tenant",
    width: "minmax(6rem, 1fr)",
    value: (row) => row.tenant,
    cell: (row) => <a href={href("tenants", [row.tenant])}>{row.tenant}</a>,
  },
  {
    id: "operation",
    title: "Request",
    width: "minmax(7rem, 1.5fr)",
    wideOnly: true,
    value: (row) => row.operation,
    cell: (row) => <span class="mono">{row.operation}</span>,
  },
  {
    id: "key",
    title: "Key",
    width: "minmax(8rem, 2fr)",
    wideOnly: true,
    value: (row) => row.key,
    cell: (row) => (
      <span class="mono" title={row.key}>
        {shortened(row.key, 40)}
      </span>
    ),
  },
];

function Hits({ hits }: { hits: Hit[] }): JSX.Element {
  return (
    <Table
      label="Writes that were not executed again"
      columns={hitColumns}
      rows={hits}
      keyOf={(row) => [row.at, row.tenant, row.key, row.what].join("\n")}
      empty={<Empty title="No repetitions">No write was sent twice under one key.</Empty>}
    />
  );
}

type Wanted = "forget" | "done" | "failed" | null;

function RecordDialog(props: {
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
          ["State", <Badge status={record.status} />],
          ["Tenant", <a href={href("tenants", [record.tenant])}>{record.tenant}</a>],
          ["Request", record.method ? `${record.method} ${record.path}` : "a program's own"],
          ["First seen", <Time at={record.created_at} as="full" />],
          ["Expires", <Time at={record.expires_at} as="full" />],
          ["Replays", plural(record.replays, "time")],
          ...(record.lease_until
            ? [["Lease until", <Time at={record.lease_until} as="full" />] as [string, JSX.Element]]
            : []),
          ...(record.tombstone ? [["Answer", "not kept"] as [string, string]] : []),
        ]}
      />
      {wanted === null && <Ways record={record} choose={setWanted} />}
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
  return [key, "of", tenant, method, path].filter((part) => part !== null).join(" ");
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
      <label class="field">
        <span>How do you know?</span>
        <input
          type="text"
          required
          maxLength={500}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
    </DeedForm>
  );
}
