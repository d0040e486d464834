// Who uses how much of which limit.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { ApiError, get, query } from "../api";
import { useFilter, useSettled } from "../hooks";
import { count, duration, plural } from "../logic/format";
import { matches } from "../logic/order";
import { href, type Route } from "../logic/route";
import type { BucketUsage, Session, TenantUsage, UsagePage } from "../logic/types";
import { isNear, rankOf, rowsOf, type UsageRow } from "../logic/usage";
import { Choice, Empty, Failure, Loading, Search } from "../ui/basics";
import { Bar } from "../ui/bar";
import { Icon } from "../ui/icons";
import { Table, type Column } from "../ui/table";

const pageSize = 1000;
const askAgainMs = 5_000;

interface Gathered {
  tenants: TenantUsage[] | null;
  error: ApiError | null;
}

// All pages, one after the other; then again. However many there are, pawl has nine tenths of the
// time for other work.
function useUsage(): Gathered & { refresh: () => void } {
  const [gathered, setGathered] = useState<Gathered>({ tenants: null, error: null });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      const began = performance.now();
      try {
        const tenants: TenantUsage[] = [];
        let after: string | undefined;
        do {
          const page: UsagePage = await get(
            `/v1/usage${query({ limit: pageSize, after })}`,
            leaving.signal,
          );
          tenants.push(...page.tenants);
          after = page.next ?? undefined;
        } while (after !== undefined);
        setGathered({ tenants, error: null });
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (error instanceof ApiError) setGathered((old) => ({ ...old, error }));
      }
      const took = performance.now() - began;
      if (!leaving.signal.aborted) wait(Math.max(askAgainMs, 9 * took));
    };
    const wait = (ms: number): void => {
      timer = window.setTimeout(() => (document.hidden ? wait(ms) : void ask()), ms);
    };
    void ask();
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [asked]);
  return { ...gathered, refresh: () => setAsked((n) => n + 1) };
}

function columnsOf(session: Session): Column<UsageRow>[] {
  return [
    {
      id: "tenant",
      title: "Tenant",
      width: "minmax(7rem, 2fr)",
      value: (row) => row.tenant.tenant,
      cell: (row) => (
        <span class="stack">
          <a class="strong" href={href("tenants", [row.tenant.tenant])}>
            {row.tenant.tenant}
          </a>
          <span class="sub">
            <BucketName bucket={row.bucket} />
          </span>
        </span>
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
      title: "Free again",
      width: "minmax(6.5rem, 0.8fr)",
      right: true,
      wideOnly: true,
      value: (row) => row.bucket?.reset_seconds ?? null,
      cell: (row) =>
        row.bucket && row.bucket.used > 0 ? (
          duration(row.bucket.reset_seconds)
        ) : (
          <span class="faint">–</span>
        ),
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
  return (
    <span class="stack">
      <span class="usage-cell">
        <Bar
          label={`${tenant.tenant}, ${bucket.bucket}`}
          used={bucket.used}
          limit={bucket.limit}
          near={isNear(row)}
          calm={bucket.shadow}
        />
        {isNear(row) && (
          <span class="near-sign" title="Near the limit">
            <Icon name="warn" />
          </span>
        )}
      </span>
      <span class="sub">
        {usedOf(bucket)} <UpgradeLink row={row} session={session} />
      </span>
    </span>
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
  const { tenants, error, refresh } = useUsage();
  const [search, setSearch] = useFilter(route, "search");
  const [shown, setShow] = useFilter(route, "show");
  const show = shown === "near" ? "near" : "all";
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
        <Choice
          label="Which"
          value={show}
          choose={(value) => setShow(value === "all" ? "" : value)}
          of={[
            ["all", "All"],
            ["near", "Near a limit"],
          ]}
        />
      </div>
      {error && <Failure error={error} again={refresh} />}
      {tenants === null ? (
        !error && <Loading rows={8} />
      ) : (
        <Table
          label="Usage by tenant and bucket"
          columns={columns}
          rows={rows}
          keyOf={(row) => `${row.tenant.tenant}\n${row.bucket?.bucket ?? ""}`}
          sort={{ column: "share", down: true }}
          open={(row) => {
            window.location.hash = href("tenants", [row.tenant.tenant]);
          }}
          empty={<NoTenants some={tenants.length > 0} />}
        />
      )}
    </>
  );
}

function NoTenants({ some }: { some: boolean }): JSX.Element {
  if (some) return <Empty title="No tenant is like that">Try fewer letters, or show all.</Empty>;
  return (
    <Empty title="No tenant was seen yet">
      They appear with their first request to the guarded listener, or when a setting names them.
    </Empty>
  );
}
