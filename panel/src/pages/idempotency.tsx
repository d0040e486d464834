// Writes with a key: what is remembered of them, and which were answered without being executed.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { query } from "../api";
import { useChoice, useFilter, useSettled } from "../hooks";
import { count, shortened, words } from "../logic/format";
import type { Route } from "../logic/route";
import type { Hit, KeptRecord } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Empty, Facts, NoRows, OnlySome, Shown, TenantLink, Tile, Time } from "../ui/basics";
import { Dialog, useAsking } from "../ui/dialog";
import { Choice, Search } from "../ui/fields";
import { sinceColumn, Stack, Table, type Column } from "../ui/table";
import { RecordDialog } from "./key_deeds";

interface Listed {
  records: KeptRecord[];
  hits: Hit[];
}

interface Stats {
  counts: { [what: string]: number };
  store: { durability: string; available: boolean };
}

const most = 1000;
const shows = [
  ["records", "Records"],
  ["unknown", "Not known"],
  ["hits", "Not executed again"],
] as const;
// What happened so often; how many are in flight or of unknown outcome now, the list says.
const counted: { [what: string]: string } = {
  in_flight: "repeated in flight",
  unknown: "ended unknown",
};
const first = ["executed", "replayed", "mismatch", "in_flight", "unknown"];

export function IdempotencyPage({ route }: { route: Route }): JSX.Element {
  const [tenant, setTenant] = useFilter(route, "tenant");
  const [key, setKey] = useFilter(route, "key");
  const [show, setShow] = useChoice(route, "show", shows);
  const wantedTenant = useSettled(tenant.trim());
  const wantedKey = useSettled(key.trim());
  const status = show === "unknown" ? show : "";
  const named = wantedTenant !== "" || wantedKey !== "";
  const asked = query({ limit: most, tenant: wantedTenant, key: wantedKey, status });
  const listed = useResource<Listed>(
    `/v1/idempotency${asked}`,
    wantedKey === "" ? 5_000 : 30_000, // by a part of a key, the store looks at all it has
  );
  const { asked: chosen, ask: choose, close, done } = useAsking<KeptRecord>(listed.refresh);
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
      <OnlySome
        found={show === "hits" ? 0 : (listed.data?.records.length ?? 0)}
        most={most}
        of="records, those first seen last"
        more="Name a tenant or a part of a key to see others."
      />
      <Shown of={listed} rows={8}>
        {({ records, hits }) =>
          show === "hits" ? (
            <Hits hits={hits} filtered={named} />
          ) : (
            <Records
              records={records}
              filtered={named || status !== ""}
              allKnown={!named && status === "unknown"}
              choose={choose}
            />
          )
        }
      </Shown>
      {chosen && <RecordDialog record={chosen} close={close} done={done} />}
    </>
  );
}

function Counts(): JSX.Element | null {
  const { data } = useResource<Stats>("/v1/idempotency/stats", 5_000);
  if (data === null) return null;
  return (
    <section class="counts" aria-labelledby="counts">
      <h2 id="counts" class="faint">
        Counted since pawl started
      </h2>
      <div class="tiles small">
        {first.map((what) => (
          <Tile
            key={what}
            name={counted[what] ?? words(what)}
            value={count(data.counts[what] ?? 0)}
          />
        ))}
      </div>
    </section>
  );
}

const tenantColumn: Column<KeptRecord | Hit> = {
  id: "tenant",
  title: "Tenant",
  width: "minmax(6rem, 1fr)",
  wideOnly: true,
  value: (row) => row.tenant,
  cell: (row) => <TenantLink tenant={row.tenant} />,
};

function keyColumn<T extends KeptRecord | Hit>(
  choose: (row: T) => void,
  most: number,
  sub: (row: T) => string,
): Column<T> {
  return {
    id: "key",
    title: "Key",
    width: "minmax(8rem, 2fr)",
    value: (row) => row.key,
    cell: (row) => (
      <Stack sub={sub(row)}>
        <button type="button" class="link" title={row.key} onClick={() => choose(row)}>
          {shortened(row.key, most)}
        </button>
      </Stack>
    ),
  };
}

function recordColumns(choose: (record: KeptRecord) => void): Column<KeptRecord>[] {
  return [
    keyColumn(choose, 36, (row) => row.tenant || "–"),
    tenantColumn,
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
    sinceColumn("age", "Age", (row) => row.created_at),
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
  allKnown: boolean; // where none is found
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
        props.allKnown ? (
          <Empty title="No matching records">The outcome of every key is known.</Empty>
        ) : (
          <NoRows of="records" filtered={props.filtered}>
            A write with an <code>Idempotency-Key</code> leaves one.
          </NoRows>
        )
      }
    />
  );
}

const hitColumnsOf = (choose: (hit: Hit) => void): Column<Hit>[] => [
  {
    id: "at",
    title: "When",
    width: "minmax(6rem, 0.7fr)",
    narrow: "3.6rem",
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
  tenantColumn,
  {
    id: "operation",
    title: "Request",
    width: "minmax(7rem, 1.5fr)",
    wideOnly: true,
    value: (row) => row.operation,
    cell: (row) => <span class="mono">{row.operation}</span>,
  },
  keyColumn(choose, 40, (row) => row.operation),
];

function Hits({ hits, filtered }: { hits: Hit[]; filtered: boolean }): JSX.Element {
  const [chosen, setChosen] = useState<Hit | null>(null);
  const columns = useMemo(() => hitColumnsOf(setChosen), []);
  return (
    <>
      <Table
        label="Writes that were not executed again"
        columns={columns}
        rows={hits}
        open={setChosen}
        keyOf={(row) => [row.at, row.tenant, row.key, row.what].join("\n")}
        empty={
          <NoRows of="repetitions" filtered={filtered}>
            No write was sent twice under one key.
          </NoRows>
        }
      />
      {chosen && (
        <Dialog title={shortened(chosen.key, 48)} close={() => setChosen(null)}>
          <Facts
            of={[
              ["Answer", <Badge status={chosen.what} />],
              ["When", <Time at={chosen.at} as="full" />],
              ["Tenant", <TenantLink tenant={chosen.tenant} />],
              ["Request", chosen.operation],
              ["Key", chosen.key],
            ]}
          />
        </Dialog>
      )}
    </>
  );
}
