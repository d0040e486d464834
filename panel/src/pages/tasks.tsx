// The queue: what waits, runs and is over.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { type ApiError, query } from "../api";
import { goTo, useChoice, useFilter, useNarrow, useNow, useSettled } from "../hooks";
import { count, plural, words } from "../logic/format";
import { href, type Route } from "../logic/route";
import type { Closing, Task } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Empty, NoRows, OnlySome, Shown, Tile, Time } from "../ui/basics";
import { DeedDialog, useAsking } from "../ui/dialog";
import { Choice, Search, Select } from "../ui/fields";
import { sinceColumn, Stack, Table, type Column } from "../ui/table";
import { CloseDialog } from "./close_key";

const shows = [
  ["all", "All"],
  ["pending", "Pending"],
  ["running", "Running"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["expired", "Expired"],
] as const;
const orders = [
  ["changed", "changed last"],
  ["due", "due first"],
] as const;

const tasksMost = 1000; // of one answer; those that changed last
const many = 200;

const columns: Column<Task>[] = [
  {
    id: "id",
    title: "Task",
    width: "minmax(9rem, 1.4fr)",
    value: (row) => row.id,
    cell: (row) => (
      <Stack sub={row.task_type}>
        <a class="mono" title={row.id} href={href("tasks", [row.id])}>
          …{row.id.slice(-10)}
        </a>
      </Stack>
    ),
  },
  {
    id: "type",
    title: "Type",
    width: "minmax(7rem, 1.2fr)",
    wideOnly: true,
    value: (row) => row.task_type,
  },
  {
    id: "status",
    title: "State",
    width: "minmax(7.5rem, 0.8fr)",
    narrow: "7.9rem",
    value: (row) => row.status,
    cell: (row) => <Badge status={row.status} />,
  },
  {
    id: "key",
    title: "Key",
    width: "minmax(6rem, 1fr)",
    wideOnly: true,
    value: (row) => row.key,
  },
  {
    id: "tries",
    title: "Retries",
    width: "minmax(5rem, 0.6fr)",
    right: true,
    downFirst: true,
    wideOnly: true,
    value: (row) => row.retry_count,
    cell: (row) => `${row.retry_count} of ${row.max_retries}`,
  },
  {
    id: "due",
    title: "Due",
    width: "minmax(6rem, 0.8fr)",
    right: true,
    wideOnly: true,
    value: (row) => row.available_at,
    cell: (row) => <Time at={row.available_at} as="age" />,
  },
  { ...sinceColumn<Task>("updated", "Changed", (row) => row.updated_at), narrow: "5.6rem" },
];

export function TasksPage({ route }: { route: Route }): JSX.Element {
  const [status, setStatus] = useChoice(route, "status", shows);
  const [type, setType] = useFilter(route, "type");
  const [key, setKey] = useFilter(route, "key");
  const [by, setBy] = useChoice(route, "order", orders);
  const [isLarge, setLarge] = useState(false);
  const listed = useResource<{ tasks: Task[]; total: number | null }>(
    `/v1/tasks${query({
      order: by,
      limit: tasksMost,
      status: status === "all" ? undefined : status,
      type: useSettled(type),
      key: useSettled(key),
    })}`,
    isLarge ? 15_000 : 3_000,
  );
  const { data, error } = listed;
  useEffect(() => setLarge((data?.tasks.length ?? 0) > many), [data]);
  const closings = useResource<{ closings: Closing[] }>("/v1/queue/closings", 5_000);
  const { asked, ask, close, done } = useAsking<"close">(closings.refresh);
  if (error?.status === 404) return <NoQueue error={error} />;
  return (
    <>
      <div class="page-head">
        <h1>Tasks</h1>
        <button type="button" class="quiet" onClick={() => ask("close")}>
          Close a key
        </button>
      </div>
      <Numbers />
      <Closings closings={closings.data?.closings ?? []} changed={closings.refresh} />
      <div class="tools">
        <Choice label="State" value={status} choose={setStatus} of={shows} />
        <Search label="Type" hint="Type, whole name" value={type} change={setType} />
        <Search label="Key" hint="Key, whole name" value={key} change={setKey} />
        <Select label="First" value={by} change={setBy} of={orders} />
      </div>
      <OnlySome
        found={data?.tasks.length ?? 0}
        most={tasksMost}
        total={data?.total ?? null}
        of={`tasks, those ${by === "due" ? "due first" : "changed last"}`}
        more="Choose a state, a type or a key to see others."
      />
      <Shown of={listed} rows={8}>
        {({ tasks }) => (
          <Table
            key={by}
            label="Tasks"
            columns={columns}
            rows={tasks}
            keyOf={(row) => row.id}
            sort={by === "due" ? { column: "due", down: false } : { column: "updated", down: true }}
            open={(row) => goTo("tasks", row.id)}
            empty={
              <NoRows of="tasks" filtered={status !== "all" || type !== "" || key !== ""}>
                <code>pawl submit</code> makes one.
              </NoRows>
            }
          />
        )}
      </Shown>
      {asked && <CloseDialog scope="key" name="" close={close} done={done} />}
    </>
  );
}

function NoQueue({ error }: { error: ApiError }): JSX.Element {
  return (
    <>
      <div class="page-head">
        <h1>Tasks</h1>
      </div>
      <Empty title="No queue here">{error.message}</Empty>
    </>
  );
}

interface Depth {
  [name: string]: number | string | null;
}

function Numbers(): JSX.Element | null {
  const { data } = useResource<{ types: Depth[] }>("/v1/queue/stats", 3_000);
  const sums = useMemo(() => {
    const all: { [name: string]: number } = {};
    for (const type of data?.types ?? []) {
      for (const [name, value] of Object.entries(type)) {
        if (typeof value === "number") all[name] = (all[name] ?? 0) + value;
      }
    }
    return all;
  }, [data]);
  if (data === null) return null;
  return (
    <section class="tiles small" aria-label="The queue now">
      {["due", "pending", "running", "completed", "failed"].map((name) => (
        <Tile
          key={name}
          name={name}
          value={count(sums[name] ?? 0)}
          tone={name === "failed" && (sums[name] ?? 0) > 0 ? "bad" : "plain"}
        />
      ))}
    </section>
  );
}

function Closings(props: { closings: Closing[]; changed: () => void }): JSX.Element | null {
  const { asked, ask, close, done } = useAsking<Closing>(props.changed);
  const narrow = useNarrow(); // where they would hide the list
  const now = useNow();
  const open = props.closings.filter((each) => Date.parse(each.until) > now);
  if (open.length === 0) return null;
  return (
    <details class="card closings" open={!narrow}>
      <summary>
        <h2>{plural(open.length, "closing")}</h2>
      </summary>
      <ul class="stores">
        {open.map((each) => (
          <li key={`${each.scope} ${each.name}`}>
            <span>
              {each.scope} <strong>{each.name}</strong>
            </span>
            <span class="faint">
              opens <Time at={each.until} as="age" />
            </span>
            <button
              type="button"
              class="quiet"
              aria-label={`Open now: ${each.scope} ${each.name ?? ""}`.trim()}
              onClick={() => ask(each)}
            >
              Open now
            </button>
          </li>
        ))}
      </ul>
      {asked && <OpenDialog closing={asked} close={close} done={done} />}
    </details>
  );
}

function OpenDialog(props: {
  closing: Closing;
  close: () => void;
  done: (text: string) => void;
}): JSX.Element {
  const { scope, name } = props.closing;
  return (
    <DeedDialog
      title={`Open ${words(scope)} ${name ?? ""}?`}
      name={`Open ${scope} ${name ?? ""}`}
      action="Open it"
      close={props.close}
      ask={() => ({
        method: "POST",
        path: "/v1/queue/close",
        body: { scope, for_seconds: 0, ...(name === null ? {} : { name }) },
      })}
      done={() => props.done("It is open.")}
    >
      <p>What waits for it may be claimed at once.</p>
    </DeedDialog>
  );
}
