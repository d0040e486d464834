// Who uses how much of which limit.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { get, query, type ApiError } from "../api";
import { goTo, useChoice, useFilter, useSettled } from "../hooks";
import { count, duration, plural } from "../logic/format";
import { matches } from "../logic/order";
import { href, type Route } from "../logic/route";
import type { BucketUsage, Session, TenantUsage, UsagePage } from "../logic/types";
import { fullOfLate, isNear, rankOf, rowsOf, type UsageRow } from "../logic/usage";
import type { Resource } from "../resource";
import { None, NoRows, Shown } from "../ui/basics";
import { Bar } from "../ui/bar";
import { Choice, Search } from "../ui/fields";
import { Icon } from "../ui/icons";
import { Stack, Table, type Column } from "../ui/table";
import { whileSeen } from "../while_seen";

const shows = [
  ["all", "All"],
  ["near", "Near a limit"],
] as const;
const pageSize = 1000;
const askAgainMs = 5_000;

// All pages, one after the other; then again. However many there are, pawl has nine tenths of the
// time for other work.
function useUsage(): Resource<TenantUsage[]> {
  const [data, setData] = useState<TenantUsage[] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(
    () =>
      whileSeen({
        ask: async (signal) => {
          const tenants: TenantUsage[] = [];
          let after: string | undefined;
          do {
            const asked = query({ limit: pageSize, after });
            const page: UsagePage = await get(`/v1/usage${asked}`, signal);
            tenants.push(...page.tenants);
            after = page.next ?? undefined;
          } while (after !== undefined);
          for (const each of tenants) fullOfLate.note(each, Date.now());
          setData(tenants);
          setError(null);
        },
        failed: setError,
        waitMs: (tookMs) => Math.max(askAgainMs, 9 * tookMs),
      }),
    [asked],
  );
  return { data, error, refresh: () => setAsked((n) => n + 1) };
}

function columnsOf(session: Session): Column<UsageRow>[] {
  return [
    {
      id: "tenant",
      title: "Tenant",
      width: "minmax(7rem, 2fr)",
      value: (row) => row.tenant.tenant,
      cell: (row) => (
        <Stack sub={<BucketName bucket={row.bucket} />}>
          <a class="strong" href={href("tenants", [row.tenant.tenant])}>
            {row.tenant.tenant}
          </a>
        </Stack>
      ),
    },
    {
      id: "bucket",
      title: "Bucket",
      width: "minmax(5rem, 1fr)",
      wideOnly: true,
      value: (row) => row.bucket?.bucket ?? null,
      cell: (row) => <BucketName bucket={row.bucket} />,
    },
    {
      id: "share",
      title: "Usage",
      width: "minmax(6rem, 2.5fr)",
      narrow: "minmax(0, 1.7fr)",
      value: rankOf,
      downFirst: true,
      cell: (row) => <UsageCell row={row} session={session} />,
    },
    {
      id: "used",
      title: "Used",
      width: "minmax(6.5rem, 1fr)",
      right: true,
      downFirst: true,
      wideOnly: true,
      value: (row) => row.bucket?.used ?? null,
      cell: (row) => row.bucket && usedOf(row.bucket),
    },
    {
      id: "reset",
      title: "All free in",
      width: "minmax(6.5rem, 0.8fr)",
      right: true,
      wideOnly: true,
      value: (row) => row.bucket?.reset_seconds ?? null,
      cell: (row) =>
        row.bucket && row.bucket.used > 0 ? duration(row.bucket.reset_seconds) : <None />,
    },
    {
      id: "plan",
      title: "Plan",
      width: "minmax(10rem, 1.6fr)",
      wideOnly: true,
      value: (row) => row.tenant.plan,
      cell: (row) => (
        <span class="plan-cell">
          {row.tenant.plan}
          <UpgradeLink row={row} session={session} />
        </span>
      ),
    },
  ];
}

function BucketName({ bucket }: { bucket: BucketUsage | null }): JSX.Element {
  if (bucket === null) return <span class="faint">none</span>;
  return (
    <>
      {bucket.bucket}
      {bucket.shadow && <span class="faint"> shadow</span>}
    </>
  );
}

function usedOf(bucket: BucketUsage): string {
  return `${count(bucket.used)} of ${count(bucket.limit)}`;
}

interface OfRow {
  row: UsageRow;
  session: Session;
}

function UsageCell({ row, session }: OfRow): JSX.Element | null {
  const { tenant, bucket } = row;
  if (bucket === null) return null;
  const isFull = fullOfLate.has(tenant.tenant, bucket.bucket);
  return (
    <Stack
      sub={
        <>
          {usedOf(bucket)} <UpgradeLink row={row} session={session} />
        </>
      }
    >
      <span class="usage-cell">
        <Bar
          label={`${tenant.tenant}, ${bucket.bucket}`}
          used={bucket.used}
          limit={bucket.limit}
          near={isNear(row)}
          full={isFull}
          calm={bucket.shadow}
        />
        {isNear(row) && (
          <span class="near-sign" title={isFull ? "At the limit" : "Near the limit"}>
            <Icon name="warn" />
          </span>
        )}
      </span>
    </Stack>
  );
}

function UpgradeLink({ row, session }: OfRow): JSX.Element | null {
  if (!isNear(row) || !row.bucket?.next_plan || !session.upgrade) return null;
  return (
    <a class="upgrade-link" href={session.upgrade.link} target="_blank" rel="noreferrer noopener">
      {session.upgrade.text}
    </a>
  );
}

export function TenantsPage({ route, session }: { route: Route; session: Session }): JSX.Element {
  const usage = useUsage();
  const tenants = usage.data;
  const [search, setSearch] = useFilter(route, "search");
  const [show, setShow] = useChoice(route, "show", shows);
  const wanted = useSettled(search);
  const all = useMemo(() => rowsOf(tenants ?? []), [tenants]);
  const rows = useMemo(
    () =>
      all.filter(
        (row) =>
          (show === "all" || isNear(row)) &&
          matches(wanted, [row.tenant.tenant, row.tenant.plan, row.bucket?.bucket ?? null]),
      ),
    [all, wanted, show],
  );
  const near = new Set(all.filter((row) => isNear(row)).map((row) => row.tenant.tenant)).size;
  const columns = useMemo(() => columnsOf(session), [session]);
  return (
    <>
      <div class="page-head">
        <h1>Tenants</h1>
        <span class="faint">
          {tenants && `${plural(tenants.length, "tenant")}, ${count(near)} near a limit`}
        </span>
      </div>
      <div class="tools">
        <Search label="Search tenants, plans and buckets" value={search} change={setSearch} />
        <Choice label="Which" value={show} choose={setShow} of={shows} />
      </div>
      <Shown of={usage} rows={8}>
        {(known) => (
          <Table
            label="Usage by tenant and bucket"
            columns={columns}
            rows={rows}
            keyOf={(row) => `${row.tenant.tenant}\n${row.bucket?.bucket ?? ""}`}
            sort={{ column: "share", down: true }}
            open={(row) => goTo("tenants", row.tenant.tenant)}
            empty={
              <NoRows of="tenants" filtered={known.length > 0}>
                They appear with their first request to the guarded listener, or when a setting
                names them.
              </NoRows>
            }
          />
        )}
      </Shown>
    </>
  );
}
