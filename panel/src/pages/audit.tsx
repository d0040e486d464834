// The audit log: what was decided, by correlation id as one story, and whether its chain holds.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { query } from "../api";
import { useFilter, useSettled } from "../hooks";
import { count, plural, shortened, words } from "../logic/format";
import { href, type Route } from "../logic/route";
import { chapterOf, particulars, threadOf } from "../logic/story";
import type { AuditPage as AuditAnswer, AuditRecord } from "../logic/types";
import { stepsOf, versionChapter, type Step } from "../logic/versions";
import { useResource } from "../resource";
import { namesMost, useTrail, type Trail } from "../trail";
import { Badge, Card, Code, Empty, Failure, Loading, Search, Select, Time } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Table, type Column } from "../ui/table";
import { Timeline, type Moment } from "../ui/timeline";
import { ChainMark } from "./chain";

const types = [
  "limit",
  "limit_near",
  "pace",
  "request",
  "rejected",
  "config",
  "retry_attempt",
  "retry_exhausted",
  "retry_succeeded",
  "idempotency",
  "breaker",
  "budget",
  "hedge",
  "operation_slept",
  "operation_resumed",
  "reconcile",
  "quota",
  "order",
  "task",
];

export function AuditPage({ route }: { route: Route }): JSX.Element {
  const [thread] = route.names;
  const [id, setId] = useState(thread ?? "");
  return (
    <>
      <div class="page-head">
        <h1>Audit</h1>
        <ChainMark />
      </div>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          window.location.hash = href("audit", id.trim() === "" ? [] : [id.trim()]);
        }}
      >
        <Search
          label="Correlation id"
          hint="Follow a correlation id, order reference or task"
          value={id}
          change={setId}
        />
        <button type="submit" class="primary">
          Follow
        </button>
      </form>
      {thread === undefined ? (
        <Newest route={route} />
      ) : (
        <Story thread={thread} />
      )}
    </>
  );
}

function columnsOf(choose: (record: AuditRecord) => void): Column<AuditRecord>[] {
  return [
    {
      id: "seq",
      title: "No.",
      width: "minmax(4rem, 0.5fr)",
      right: true,
      downFirst: true,
      wideOnly: true,
      value: (row) => row.seq,
      cell: (row) => count(row.seq),
    },
    {
      id: "what",
      title: "What",
      width: "minmax(9rem, 2fr)",
      cell: (row) => {
        const chapter = chapterOf(row);
        return (
          <span class="stack">
            <button type="button" class="link" onClick={() => choose(row)}>
              {chapter.title}
            </button>
            <span class="sub">{chapter.detail}</span>
          </span>
        );
      },
    },
    {
      id: "type",
      title: "Kind",
      width: "minmax(10.6rem, 0.8fr)",
      wideOnly: true,
      value: (row) => row.event_type,
      cell: (row) => <Badge status={row.event_type} tone={chapterOf(row).tone} />,
    },
    {
      id: "operation",
      title: "Operation",
      width: "minmax(5rem, 2fr)",
      wideOnly: true,
      value: (row) => row.operation,
      cell: (row) => {
        const { detail } = chapterOf(row);
        const told = detail.startsWith(row.operation) ? detail : `${row.operation}, ${detail}`;
        return <span title={told}>{told.replace(/, $/, "")}</span>;
      },
    },
    {
      id: "tenant",
      title: "Tenant",
      width: "minmax(4.2rem, 0.8fr)",
      wideOnly: true,
      value: (row) => textOf(row, "tenant_id"),
      cell: (row) => textOf(row, "tenant_id"),
    },
    {
      id: "thread",
      title: "Correlation id",
      width: "minmax(5rem, 1.3fr)",
      wideOnly: true,
      cell: (row) =>
        threadOf(row) ? (
          <a class="mono" title={threadOf(row)} href={href("audit", [threadOf(row)])}>
            {threadOf(row)}
          </a>
        ) : (
          <span class="faint">–</span>
        ),
    },
    {
      id: "at",
      title: "When",
      width: "minmax(5.5rem, 0.8fr)",
      narrow: "5.2rem",
      right: true,
      cell: (row) => <Time at={row.timestamp} />,
    },
  ];
}

function textOf(record: AuditRecord, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}

function Newest({ route }: { route: Route }): JSX.Element {
  const [type, setType] = useFilter(route, "type");
  const [chosen, setChosen] = useState<AuditRecord | null>(null);
  const { data, error, refresh } = useResource<AuditAnswer>(
    `/v1/audit${query({ limit: 1000, type })}`,
    3_000,
  );
  const rows = useMemo(() => [...(data?.events ?? [])].reverse(), [data]);
  const columns = useMemo(() => columnsOf(setChosen), []);
  return (
    <>
      <div class="tools">
        <Select
          label="Kind"
          value={type}
          change={setType}
          of={[["", "all"], ...types.map((each) => [each, words(each)] as const)]}
        />
        {data && <span class="faint">the newest {plural(rows.length, "record")}</span>}
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={8} />
      ) : (
        <Table
          label="Audit records"
          columns={columns}
          rows={rows}
          keyOf={(row) => String(row.seq)}
          open={setChosen}
          empty={<Empty title="No records">Nothing like that was decided of late.</Empty>}
        />
      )}
      {chosen && <RecordDialog record={chosen} close={() => setChosen(null)} />}
    </>
  );
}

function RecordDialog({ record, close }: { record: AuditRecord; close: () => void }): JSX.Element {
  const thread = threadOf(record);
  return (
    <Dialog title={`${chapterOf(record).title}, no. ${count(record.seq)}`} close={close}>
      {thread && (
        <p>
          <a href={href("audit", [thread])}>Follow {shortened(thread, 40)}</a>
        </p>
      )}
      <Code of={record} />
    </Dialog>
  );
}

function Story({ thread }: { thread: string }): JSX.Element {
  const trail = useTrail(thread);
  const { events, versions, over, error } = trail;
  const settled = useSettled(over, 100);
  const steps = stepsOf(events, versions);
  const kinds = [...new Set(events.map((event) => event.event_type))];
  return (
    <Card
      title={
        <>
          Operation <span class="mono">{shortened(thread, 48)}</span>
        </>
      }
      more={
        <a class="back" href={href("audit")}>
          <Icon name="back" />
          All records
        </a>
      }
    >
      {error && <Failure error={error} />}
      {!error && (
        <p class="faint" role="status">
          {foundText(trail)}
          {kinds.length > 1 && ` Across ${kinds.map(words).join(", ")}.`}
        </p>
      )}
      {steps.length === 0 ? (
        (settled || over) &&
        !error && <Empty title="Nothing by that name">An id must be whole.</Empty>
      ) : (
        <Timeline label="The operation" moments={steps.map(momentOf)} />
      )}
    </Card>
  );
}

function foundText({ events, versions, names, looked, over }: Trail): string {
  if (!over) return `Searching, up to record ${count(looked)}…`;
  const records = plural(events.length, "record");
  const steps = versions.length > 0 ? ` and ${plural(versions.length, "step")} of the queue` : "";
  if (names <= namesMost) return `${records} in all of the log${steps}.`;
  return (
    `${records}${steps}. It goes by ${count(names)} names, of which ${namesMost} are followed: ` +
    "there may be more."
  );
}

function momentOf(step: Step): Moment {
  if ("record" in step) {
    const { record } = step;
    const { title, detail, tone } = chapterOf(record);
    return {
      id: String(record.seq),
      at: step.at,
      tone,
      title: (
        <>
          {title} <Badge status={record.event_type} tone="plain" />
        </>
      ),
      detail: <RecordDetail record={record} text={detail} />,
    };
  }
  const { title, detail, tone } = versionChapter(step.version);
  return {
    id: `${step.task} ${step.version.version}`,
    at: step.at,
    tone,
    title: (
      <>
        Task {title} <Badge status="queue" tone="plain" />
      </>
    ),
    detail: (
      <>
        {detail && <div class="wrap">{detail}</div>}
        <a class="mono" href={href("tasks", [step.task])}>
          {step.task}
        </a>
      </>
    ),
  };
}

function RecordDetail({ record, text }: { record: AuditRecord; text: string }): JSX.Element {
  return (
    <>
      {text && <div class="wrap">{text}</div>}
      <details>
        <summary>
          No. {count(record.seq)}, {plural(particulars(record).length, "field")}
        </summary>
        <Code of={record} />
      </details>
    </>
  );
}
