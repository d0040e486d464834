// One task: what it is, why it does not run, and how it became what it is.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { segment } from "../api";
import { duration, utc, words } from "../logic/format";
import { whyText } from "../logic/why";
import type { Task, TaskHistory, Version, Why } from "../logic/types";
import { versionChapter } from "../logic/versions";
import { useResource } from "../resource";
import { useNow } from "../hooks";
import { Back, Badge, Card, Code, Facts, NoSuch, Notice, Shown, Time } from "../ui/basics";
import { DeedDialog, useAsking } from "../ui/dialog";
import { TextField } from "../ui/fields";
import { Timeline, type Moment } from "../ui/timeline";
import { CloseDialog } from "./close_key";

export function TaskPage({ id }: { id: string }): JSX.Element {
  const path = `/v1/tasks/${segment(id)}`;
  const task = useResource<Task>(path, 2_000);
  const { data, refresh } = task;
  const { asked, ask, close, done } = useAsking<"cancel" | "replay" | "close">(refresh);
  if (task.error?.status === 404) {
    const back = <Back page="tasks">Tasks</Back>;
    return (
      <NoSuch what="task" name={id} back={back} look={refresh}>
        {task.error.message}
      </NoSuch>
    );
  }
  const isOver = data !== null && data.status !== "pending" && data.status !== "running";
  return (
    <>
      <div class="page-head">
        <Back page="tasks">Tasks</Back>
        <h1 class="mono">{id}</h1>
        {data && <Badge status={data.status} />}
        {data?.cancel_requested && !isOver && (
          <Badge status="cancel_requested" tone="warn" text="asked to stop" />
        )}
        {data && !isOver && !data.cancel_requested && (
          <button type="button" class="danger" onClick={() => ask("cancel")}>
            Cancel
          </button>
        )}
        {isOver && data.status !== "completed" && (
          <button type="button" class="primary" onClick={() => ask("replay")}>
            Replay
          </button>
        )}
        {data?.key && (
          <button type="button" class="quiet" onClick={() => ask("close")}>
            Close its key
          </button>
        )}
      </div>
      <Shown of={task} rows={6}>
        {(known) => <Told task={known} path={path} />}
      </Shown>
      {asked === "cancel" && <CancelTask path={path} close={close} done={done} />}
      {asked === "replay" && <ReplayTask path={path} close={close} done={done} />}
      {asked === "close" && data?.key && (
        <CloseDialog scope="key" name={data.key} close={close} done={done} />
      )}
    </>
  );
}

function Told({ task, path }: { task: Task; path: string }): JSX.Element {
  return (
    <>
      <WhyNot task={task} path={path} />
      {task.cancel_requested && task.status === "running" && (
        <Notice tone="warn">
          It was asked to stop, and ends as cancelled once its worker has heard of it.
        </Notice>
      )}
      <div class="two">
        <Card title="Task">
          <TaskFacts task={task} />
          {task.last_error && (
            <Notice tone="bad">
              <div class="wrap">{task.last_error}</div>
            </Notice>
          )}
        </Card>
        <Card title="Input and output">
          <h3>Input</h3>
          <Code of={task.input} />
          {task.output !== null && (
            <>
              <h3>Output</h3>
              <Code of={task.output} />
            </>
          )}
        </Card>
      </div>
      <Versions path={path} changed={task.updated_at} />
    </>
  );
}

function TaskFacts({ task }: { task: Task }): JSX.Element {
  const { max_reschedules: most, reschedule_count: times } = task;
  const time = (at: string | null): JSX.Element | null =>
    at === null ? null : <Time at={at} as="full" />;
  return (
    <Facts
      of={[
        ["Type", task.task_type],
        ["Key", task.key ?? "none"],
        ["Unique", task.unique],
        ["Due", time(task.available_at)],
        ["Created", time(task.created_at)],
        ["Ended", time(task.completed_at)],
        ["Priority", task.priority],
        ["Timeout", `${duration(Number(task.timeout_seconds))} a run`],
        ["Retries", `${task.retry_count} of ${task.max_retries}`],
        ["Reschedules", most === null ? `${times}, as many as it wants` : `${times} of ${most}`],
        // A task that waits keeps the name of whoever had it last.
        [task.status === "running" ? "Worker" : "Last worker", task.worker_id],
        ["Lease until", time(task.lease_expires_at)],
        ["Expires", time(task.expires_at)],
      ]}
    />
  );
}

function WhyNot({ task, path }: { task: Task; path: string }): JSX.Element | null {
  const waits = task.status === "pending";
  const { data } = useResource<Why>(waits ? `${path}/why` : null, 2_000);
  const now = useNow();
  if (!waits || data === null) return null;
  return (
    <Notice tone="plain">
      <strong>Why it does not run:</strong>{" "}
      <span title={data.until ? utc(new Date(data.until)) : ""}>
        {whyText(data, now).map((part, i) =>
          typeof part === "string" ? part : <bdi key={i}>{part.name}</bdi>,
        )}
      </span>
    </Notice>
  );
}

function Versions({ path, changed }: { path: string; changed: string }): JSX.Element {
  const history = useResource<TaskHistory>(`${path}/history`, 0, changed);
  return (
    <Card title="History">
      <Shown of={history} rows={3}>
        {({ left_out, versions }) => (
          <>
            {left_out > 0 && <p class="faint">{left_out} older versions are left out.</p>}
            <Timeline label="Versions" moments={versions.map(momentOf)} />
          </>
        )}
      </Shown>
    </Card>
  );
}

function momentOf(version: Version): Moment {
  const chapter = versionChapter(version);
  return {
    ...chapter,
    id: String(version.version),
    at: version.at,
    title: `${version.version}. ${chapter.title}`,
  };
}

interface Props {
  path: string;
  close: () => void;
  done: (text: string) => void;
}

function CancelTask({ path, close, done }: Props): JSX.Element {
  const [why, setWhy] = useState("");
  return (
    <DeedDialog
      title="Cancel the task?"
      name={`Cancel the task ${path.split("/").pop()}`}
      action="Cancel the task"
      danger
      close={close}
      ask={() => ({ method: "POST", path: `${path}/cancel`, body: { why } })}
      done={(answer) => {
        const { status } = answer.body as unknown as Task;
        done(status === "running" ? "It is asked to stop." : `It is ${words(status)}.`);
      }}
    >
      <p>One that waits is cancelled. One that runs is asked to stop.</p>
      <TextField
        label="Why? It is kept with the task"
        value={why}
        change={setWhy}
        required={false}
        maxLength={500}
      />
    </DeedDialog>
  );
}

function ReplayTask({ path, close, done }: Props): JSX.Element {
  return (
    <DeedDialog
      title="Replay the task?"
      name={`Replay the task ${path.split("/").pop()}`}
      action="Replay"
      close={close}
      ask={() => ({ method: "POST", path: `${path}/replay` })}
      done={() => done("It is pending again.")}
    >
      <p>It begins anew, with its counters at 0.</p>
    </DeedDialog>
  );
}
