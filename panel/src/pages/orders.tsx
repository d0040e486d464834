// Orders: what was meant to happen, and what is known of it.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { query } from "../api";
import { goTo, useChoice, useFilter, useSettled } from "../hooks";
import { count, shortened } from "../logic/format";
import { matches } from "../logic/order";
import { termsOf } from "../logic/terms";
import { href, type Route } from "../logic/route";
import type { Intent, Quota, Session } from "../logic/types";
import { wordOf } from "../logic/word";
import { useResource } from "../resource";
import { Badge, Card, Empty, NoRows, OnlySome, Shown, Time } from "../ui/basics";
import { Slots } from "../ui/bar";
import { Choice, Search } from "../ui/fields";
import { sinceColumn, Stack, Table, type Column } from "../ui/table";
import { PlaceDialog } from "./place_order";
import { ReconcileAll } from "./order_deeds";

const columns: Column<Intent>[] = [
  {
    id: "reference",
    title: "Reference",
    width: "minmax(8rem, 1.3fr)",
    value: (row) => row.external_reference,
    cell: (row) => (
      <Stack sub={termsOf(row)} spread>
        <a
          class="strong"
          title={row.external_reference}
          href={href("orders", [row.external_reference])}
        >
          {shortened(row.external_reference, 28)}
        </a>
      </Stack>
    ),
  },
  {
    id: "status",
    title: "State",
    width: "minmax(8rem, 0.9fr)",
    narrow: "7.9rem",
    value: (row) => row.status,
    cell: (row) => <Badge status={row.status} />,
  },
  {
    id: "terms",
    title: "Order",
    width: "minmax(17rem, 2.6fr)",
    wideOnly: true,
    cell: (row) => termsOf(row),
  },
  {
    id: "venue",
    title: "Venue",
    width: "minmax(4rem, 0.5fr)",
    wideOnly: true,
    value: (row) => row.venue,
  },
  {
    id: "life",
    title: "At the venue",
    width: "minmax(6.6rem, 0.8fr)",
    wideOnly: true,
    value: (row) => row.life,
    cell: (row) => {
      const word = wordOf(row);
      if (word === null) return row.life;
      return <span title="By a person's word, not the venue's">told: {word.stands}</span>;
    },
  },
  {
    id: "attempts",
    title: "Attempts",
    width: "minmax(5rem, 0.5fr)",
    right: true,
    wideOnly: true,
    value: (row) => row.attempts,
  },
  sinceColumn("created", "Placed", (row) => row.created_at),
];

const shows = [
  ["all", "All"],
  ["unresolved", "Not known"],
  ["confirmed", "Confirmed"],
  ["rejected", "Rejected"],
] as const;
type Show = (typeof shows)[number][0];

const most = 1000; // of which the page can look through

function pathOf(show: Show): string {
  if (show === "all") return `/v1/orders${query({ limit: most })}`;
  if (show === "unresolved") return `/v1/orders${query({ limit: most, unresolved: "true" })}`;
  return `/v1/orders${query({ limit: most, status: show })}`;
}

export function OrdersPage({ route, session }: { route: Route; session: Session }): JSX.Element {
  const [show, setShow] = useChoice(route, "show", shows);
  const [search, setSearch] = useFilter(route, "search");
  const [placing, setPlacing] = useState(false);
  const wanted = useSettled(search);
  const listed = useResource<{ orders: Intent[] }>(session.orders ? pathOf(show) : null, 3_000);
  const orders = listed.data?.orders ?? [];
  const rows = useMemo(
    () =>
      orders.filter((row) =>
        matches(wanted, [row.external_reference, row.venue, row.order_id, termsOf(row)]),
      ),
    [listed.data, wanted],
  );
  if (!session.orders) return <NoVenue />;
  return (
    <>
      <div class="page-head">
        <h1>Orders</h1>
        <ReconcileAll refresh={listed.refresh} />
        {session.trading && (
          <button type="button" class="primary" onClick={() => setPlacing(true)}>
            Place an order
          </button>
        )}
      </div>
      <Week />
      <div class="tools">
        <Search label="Search orders" value={search} change={setSearch} />
        <Choice label="Which" value={show} choose={setShow} of={shows} />
      </div>
      <OnlySome found={orders.length} most={most} of="orders, those placed last" />
      <Shown of={listed} rows={8}>
        {() => (
          <Table
            label="Orders"
            columns={columns}
            rows={rows}
            keyOf={(row) => row.external_reference}
            open={(row) => goTo("orders", row.external_reference)}
            empty={<NoOrders wanted={wanted} show={show} many={orders.length === most} />}
          />
        )}
      </Shown>
      {placing && <PlaceDialog
          venues={session.venues}
          close={() => setPlacing(false)}
          placed={listed.refresh}
        />}
    </>
  );
}

function NoOrders(props: { wanted: string; show: Show; many: boolean }): JSX.Element {
  const { wanted, show } = props;
  if (wanted !== "" && props.many) {
    return (
      <Empty title="No matching orders">
        None among the {count(most)} placed last.{" "}
        <a href={href("orders", [wanted])}>Look for the reference {wanted}</a>, however old it is.
      </Empty>
    );
  }
  if (wanted === "" && show === "unresolved")
    return <Empty title="No matching orders">The outcome of every order is known.</Empty>;
  return (
    <NoRows of="orders" filtered={wanted !== "" || show !== "all"}>
      Orders that are placed through pawl appear here.
    </NoRows>
  );
}

function NoVenue(): JSX.Element {
  return (
    <>
      <div class="page-head">
        <h1>Orders</h1>
      </div>
      <Empty title="No venue is configured">
        Name one in <code>orders.venues</code>, and its orders stand here.
      </Empty>
    </>
  );
}

function Week(): JSX.Element | null {
  const { data } = useResource<Quota>("/v1/orders/quota", 5_000);
  if (data === null) return null;
  if (!data.enabled) return <p class="faint">The weekly limit is off.</p>;
  const left = data.remaining ?? 0;
  return (
    <Card class="week">
      <div>
        <strong>
          {count(data.used)} of {count(data.limit)}
        </strong>{" "}
        orders of this week
        <div class="faint">
          {left > 0 ? `${count(left)} left` : "None left"}; a new week begins{" "}
          <Time at={data.next_week} as="age" />
        </div>
      </div>
      <Slots used={data.used} limit={data.limit} />
    </Card>
  );
}
