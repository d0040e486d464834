// The queue: what waits, runs and is over.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { type ApiError, query } from "../api";
import { useFilter, useSettled } from "../hooks";
import { count, words } from "../logic/format";
import { href, type Route } from "../logic/route";
import type { Closing, Task, TaskStatus } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Card, Choice, Empty, Failure, Loading, Search, Tile, Time } from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";
import { Table, type Column } from "../ui/table";
import { tell } from "../ui/toast";
import { CloseDialog } from "./close_key";

type Show = "all" | TaskStatus;
const shows: readonly (readonly [Show, string])[] = [
  ["all", "All"],
  ["pending", "Pending"],
  ["running", "Running"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["expired", "Expired"],
];

const tasksMost = 1000; // of one answer; those that changed last
const many = 200;

const columns: Column<Task>[] = [
  {
    id: "id",
    title: "Task",
    width: "minmax(9rem, 1.4fr)",
    value: (row) => row.id,
    cell: (row) => (
      <span class="stack">
        <a class="mono" title={row.id} href={href("tasks", [row.id])}>
          …{row.id.slice(-10)}
        </a>
        <span class="sub">{row.task_type}</span>
      </span>
    ),
  },
  {
    id: "type",
    title: "Type",
    width: "minmax(7rem, 1.2fr)",
    wideOnly: true,
    value: (row) => row.task_type,
    cell: (row) => row.task_type,
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
    cell: (row) => row.key ?? <span class="faint">–</span>,
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
    cell: (row) => <Time at={row.available_at} as="since" />,
  },
  {
    id: "updated",
    title: "Changed",
    width: "minmax(6rem, 0.8fr)",
    narrow: "5.6rem",
    right: true,
    downFirst: true,
    value: (row) => row.updated_at,
    cell: (row) => <Time at={row.updated_at} as="since" />,
  },
];

export function TasksPage({ route }: { route: Route }): JSX.Element {
  const [status, setStatus] = useFilter(route, "status");
  const show = shows.find(([each]) => each === status)?.[0] ?? "all";
  const [type, setType] = useFilter(route, "type");
  const [key, setKey] = useFilter(route, "key");
  const [closing, setClosing] = useState(false);
  const [isLarge, setLarge] = useState(false);
  const { data, error, refresh } = useResource<{ tasks: Task[]; total: number | null }>(
    `/v1/tasks${query({
      order: "changed",
      limit: tasksMost,
      status: show === "all" ? undefined : show,
      type: useSettled(type.trim()),
      key: useSettled(key.trim()),
    })}`,
    isLarge ? 15_000 : 3_000,
  );
  useEffect(() => setLarge((data?.tasks.length ?? 0) > many), [data]);
  const closings = useResource<{ closings: Closing[] }>("/v1/queue/closings", 5_000);
  if (error?.status === 404) return <NoQueue error={error} />;
  return (
    <>
      <div class="page-head">
        <h1>Tasks</h1>
        <button type="button" class="quiet" onClick={() => setClosing(true)}>
          Close a key
        </button>
      </div>
      <Numbers />
      <Closings closings={closings.data?.closings ?? []} changed={closings.refresh} />
      <div class="tools">
        <Choice label="State" value={show} choose={setStatus} of={shows} />
        <Search label="Type" hint="Type, whole name" value={type} change={setType} />
        <Search label="Key" hint="Key, whole name" value={key} change={setKey} />
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data !== null && data.tasks.length === tasksMost && (
        <p class="faint" role="status">
          {count(data.tasks.length)}
          {data.total === null ? "" : ` of ${count(data.total)}`}, those that changed last. Choose a
          state, a type or a key to see others.
        </p>
      )}
      {data === null ? (
        !error && <Loading rows={8} />
      ) : (
        <Table
          label="Tasks"
          columns={columns}
          rows={data.tasks}
          keyOf={(row) => row.id}
          sort={{ column: "updated", down: true }}
          open={(row) => {
            window.location.hash = href("tasks", [row.id]);
          }}
          empty={
            <Empty title="No tasks">
              None are like that. <code>pawl submit</code> makes one.
            </Empty>
          }
        />
      )}
      {closing && (
        <CloseDialog
          scope="key"
          name=""
          close={() => setClosing(false)}
          done={(text) => {
            setClosing(false);
            tell(text);
            closings.refresh();
          }}
        />
      )}
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
  const [opening, setOpening] = useState<Closing | null>(null);
  const open = props.closings.filter((each) => Date.parse(each.until) > Date.now());
  if (open.length === 0) return null;
  const close = (): void => setOpening(null);
  return (
    <Card title="Closed" level={3}>
      <ul class="stores">
        {open.map((each) => (
          <li key={`${each.scope} ${each.name}`}>
            <span>
              {each.scope} <strong>{each.name}</strong>
            </span>
            <span class="faint">
              opens <Time at={each.until} as="age" />
            </span>
            <button type="button" class="quiet" onClick={() => setOpening(each)}>
              Open now
            </button>
          </li>
        ))}
      </ul>
      {opening && (
        <Dialog title={`Open ${words(opening.scope)} ${opening.name ?? ""}?`} close={close}>
          <DeedForm
            name={`Open ${opening.scope} ${opening.name ?? ""}`}
            action="Open it"
            close={close}
            ask={() => ({
              method: "POST",
              path: "/v1/queue/close",
              body:
                opening.name === null
                  ? { scope: opening.scope, for_seconds: 0 }
                  : { scope: opening.scope, name: opening.name, for_seconds: 0 },
            })}
            done={() => {
              close();
              tell("It is open.");
              props.changed();
            }}
          >
            <p>What waits for it may be claimed at once.</p>
          </DeedForm>
        </Dialog>
      )}
    </Card>
  );
}
