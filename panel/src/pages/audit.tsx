// The audit log: what was decided, by correlation id as one story, and whether its chain holds.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { useFilter, useSettled, wayBack } from "../hooks";
import { count, plural, shortened, words } from "../logic/format";
import { href, type Route } from "../logic/route";
import { saidOf } from "../logic/said";
import { chapterOf, isInShadow, orderOf, particulars, threadOf } from "../logic/story";
import type { AuditRecord, Session } from "../logic/types";
import { stepsOf, versionChapter, type Step } from "../logic/versions";
import { newestMost, useNewest, type Newest } from "../newest";
import { namesMost, useTrail, type Trail } from "../trail";
import {
  Badge,
  Card,
  Code,
  Empty,
  Failure,
  Loading,
  NoLog,
  None,
  Said,
  Shown,
  TenantLink,
  Time,
} from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Search, Select } from "../ui/fields";
import { Icon } from "../ui/icons";
import { Stack, Table, type Column } from "../ui/table";
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

export function AuditPage({ route, session }: { route: Route; session: Session }): JSX.Element {
  const [thread] = route.names;
  const [id, setId] = useState(thread ?? "");
  if (!session.audit) {
    return (
      <>
        <div class="page-head">
          <h1>Audit</h1>
        </div>
        <NoLog />
      </>
    );
  }
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
        <NewestOnes route={route} />
      ) : (
        <Story thread={thread} />
      )}
    </>
  );
}

/** `digits` has the largest number. */
function columnsOf(
  digits: number,
  choose: (record: AuditRecord) => void,
  refusedBy: string,
): Column<AuditRecord>[] {
  return [
    {
      id: "seq",
      title: "No.",
      width: `${Math.max(3, 0.1 + 0.58 * digits)}rem`,
      right: true,
      downFirst: true,
      wideOnly: true,
      value: (row) => row.seq,
      cell: (row) => count(row.seq),
    },
    {
      id: "what",
      title: "What",
      width: "minmax(9rem, 2.4fr)",
      narrow: "minmax(0, 1fr)",
      cell: (row) => {
        const chapter = chapterOf(row, refusedBy);
        return (
          <Stack sub={saidOf(chapter.detail).short}>
            <button type="button" class="link" onClick={() => choose(row)}>
              {chapter.title}
            </button>
          </Stack>
        );
      },
    },
    {
      id: "type",
      title: "Kind",
      width: "minmax(10.6rem, 0.8fr)",
      wideOnly: true,
      value: (row) => row.event_type,
      cell: (row) => <Badge status={row.event_type} tone={chapterOf(row, refusedBy).tone} />,
    },
    {
      id: "operation",
      title: "Operation",
      width: "minmax(4.8rem, 1.95fr)",
      wideOnly: true,
      value: (row) => row.operation,
      cell: (row) => {
        const detail = saidOf(chapterOf(row).detail).short;
        const told = detail.startsWith(row.operation) ? detail : `${row.operation}, ${detail}`;
        return <span title={told}>{told.replace(/, $/, "")}</span>;
      },
    },
    {
      id: "tenant",
      title: "Tenant",
      width: "minmax(4rem, 0.66fr)",
      wideOnly: true,
      value: (row) => textOf(row, "tenant_id"),
      cell: (row) => <TenantLink tenant={textOf(row, "tenant_id")} />,
    },
    {
      id: "thread",
      title: "Correlation id",
      width: "minmax(3.4rem, 1.02fr)",
      wideOnly: true,
      cell: (row) => <ThreadLink thread={threadOf(row)} />,
    },
    {
      id: "at",
      title: "When",
      width: "minmax(6.2rem, 0.7fr)",
      narrow: "5.2rem",
      right: true,
      cell: (row) => <Time at={row.timestamp} />,
    },
  ];
}

function ThreadLink({ thread }: { thread: string }): JSX.Element {
  if (thread === "") return <None />;
  return (
    <a class="mono" title={thread} href={href("audit", [thread])}>
      {shortened(thread, 12)}
    </a>
  );
}

function textOf(record: AuditRecord, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}

function NewestOnes({ route }: { route: Route }): JSX.Element {
  const [type, setType] = useFilter(route, "type");
  const [refusedBy, setRefusedBy] = useFilter(route, "refused_by");
  const [chosen, setChosen] = useState<AuditRecord | null>(null);
  const newest = useNewest(type, refusedBy);
  const [latest] = newest.data?.events ?? [];
  const digits = count(latest?.seq ?? 0).length;
  const columns = useMemo(
    () => columnsOf(digits, setChosen, refusedBy),
    [digits, refusedBy],
  );
  return (
    <>
      <div class="tools">
        <Select
          label="Kind"
          value={type}
          change={setType}
          of={[["", "all"], ...types.map((each) => [each, words(each)] as const)]}
        />
        {refusedBy && (
          <button type="button" class="quiet" onClick={() => setRefusedBy("")}>
            {latest && isInShadow(latest, refusedBy)
              ? `would have been refused by ${refusedBy} (shadow)`
              : `refused by ${refusedBy}`}
            <Icon name="close" />
          </button>
        )}
        {newest.data && <HowFar newest={newest.data} goBack={newest.goBack} />}
      </div>
      <Shown of={newest} rows={8}>
        {({ events, looking, earlier }) => (
          <Table
            label="Audit records"
            columns={columns}
            rows={events}
            keyOf={(row) => String(row.seq)}
            open={setChosen}
            empty={
              looking ? (
                <Loading rows={8} />
              ) : (
                <Empty title={type || refusedBy ? "No matching records" : "No records yet"}>
                  {earlier ? "None as far back as was read." : "None in all of the log."}
                </Empty>
              )
            }
          />
        )}
      </Shown>
      {chosen && (
        <RecordDialog record={chosen} refusedBy={refusedBy} close={() => setChosen(null)} />
      )}
    </>
  );
}

function HowFar({ newest, goBack }: { newest: Newest; goBack: () => void }): JSX.Element {
  const { events, from, fromAt, earlier, looking } = newest;
  const isNone = events.length === 0;
  const found = isNone ? "no records" : `the newest ${plural(events.length, "record")}`;
  if (!earlier || events.length >= newestMost) {
    return (
      <span class="faint" role="status">
        {events.length >= newestMost ? found : `${found}${isNone ? " in" : ", of"} all of the log`}
      </span>
    );
  }
  return (
    <>
      <span class="faint" role="status">
        {found}; {looking ? "reading back, at" : "read back to"} no. {count(from)} of{" "}
        <Time at={fromAt} />
      </span>
      {!looking && (
        <button type="button" class="quiet" onClick={goBack}>
          Look further back
        </button>
      )}
    </>
  );
}

function RecordDialog(props: {
  record: AuditRecord;
  refusedBy: string;
  close: () => void;
}): JSX.Element {
  const { record, close } = props;
  const { title } = chapterOf(record, props.refusedBy);
  const thread = threadOf(record);
  return (
    <Dialog title={`${title}, no. ${count(record.seq)}`} close={close}>
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
        <a class="back" href={wayBack("audit")}>
          <Icon name="back" />
          All records
        </a>
      }
    >
      {error && <Failure error={error} blank={steps.length === 0} />}
      {!error && (
        <p class="faint" role="status">
          {foundText(trail)}
          {kinds.length > 1 && ` Across ${kinds.map(words).join(", ")}.`}
        </p>
      )}
      {steps.length === 0 ? (
        (settled || over) &&
        !error && <Empty title="No matching records">An id must be whole.</Empty>
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
      {text && (
        <div class="wrap">
          <Said text={text} />
        </div>
      )}
      {orderOf(record) && (
        <div>
          order{" "}
          <a class="mono" href={href("orders", [orderOf(record)])}>
            {orderOf(record)}
          </a>
        </div>
      )}
      <details>
        <summary>
          No. {count(record.seq)}, {plural(particulars(record).length, "field")}
        </summary>
        <Code of={record} />
      </details>
    </>
  );
}
