// One task: what it is, why it does not run, and how it became what it is.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { segment } from "../api";
import { utc } from "../logic/format";
import { whyText } from "../logic/why";
import type { Task, TaskHistory, Why } from "../logic/types";
import { versionChapter } from "../logic/versions";
import { useResource } from "../resource";
import { useNow } from "../hooks";
import { Back, Badge, Card, Code, Facts, Failure, Loading, Time } from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Timeline } from "../ui/timeline";
import { tell } from "../ui/toast";
import { CloseDialog } from "./close_key";

type Asked = "cancel" | "replay" | "close" | null;

export function TaskPage({ id }: { id: string }): JSX.Element {
  const path = `/v1/tasks/${segment(id)}`;
  const { data, error, refresh } = useResource<Task>(path, 2_000);
  const [asked, setAsked] = useState<Asked>(null);
  const close = (): void => setAsked(null);
  const done = (text: string): void => {
    close();
    tell(text);
    refresh();
  };
  const isOver = data !== null && data.status !== "pending" && data.status !== "running";
  return (
    <>
      <div class="page-head">
        <Back page="tasks">Tasks</Back>
        <h1 class="mono">{id}</h1>
        {data && <Badge status={data.status} />}
        {data && !isOver && (
          <button type="button" class="danger" onClick={() => setAsked("cancel")}>
            Cancel
          </button>
        )}
        {isOver && data.status !== "completed" && (
          <button type="button" class="primary" onClick={() => setAsked("replay")}>
            Replay
          </button>
        )}
        {data?.key && (
          <button type="button" class="quiet" onClick={() => setAsked("close")}>
            Close its key
          </button>
        )}
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? !error && <Loading rows={6} /> : <Told task={data} path={path} />}
      {asked === "cancel" && <CancelTask path={path} close={close} done={done} />}
      {asked === "replay" && <ReplayTask path={path} close={close} done={done} />}
      {asked === "close" && data?.key && (
        <CloseDialog
          scope="key"
          name={data.key}
          close={close}
          done={done}
        />
      )}
    </>
  );
}

function Told({ task, path }: { task: Task; path: string }): JSX.Element {
  return (
    <>
      <WhyNot task={task} path={path} />
      <div class="two">
        <Card title="Task">
          <Facts
            of={[
              ["Type", task.task_type],
              ["Key", task.key ?? "none"],
              ...(task.unique ? [["Unique", task.unique] as [string, string]] : []),
              ["Due", <Time at={task.available_at} as="full" />],
              ["Created", <Time at={task.created_at} as="full" />],
              ["Retries", `${task.retry_count} of ${task.max_retries}`],
              [
                "Reschedules",
                task.max_reschedules === null
                  ? `${task.reschedule_count}, as many as it wants`
                  : `${task.reschedule_count} of ${task.max_reschedules}`,
              ],
              ...(task.worker_id ? [["Worker", task.worker_id] as [string, string]] : []),
              ...(task.lease_expires_at
                ? [
                    ["Lease until", <Time at={task.lease_expires_at} as="full" />] as [
                      string,
                      JSX.Element,
                    ],
                  ]
                : []),
              ...(task.expires_at
                ? [["Expires", <Time at={task.expires_at} as="full" />] as [string, JSX.Element]]
                : []),
            ]}
          />
          {task.last_error && (
            <div class="notice bad">
              <Icon name="bad" />
              <div class="wrap">{task.last_error}</div>
            </div>
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

function WhyNot({ task, path }: { task: Task; path: string }): JSX.Element | null {
  const waits = task.status === "pending";
  const { data } = useResource<Why>(waits ? `${path}/why` : null, 2_000);
  const now = useNow();
  if (!waits || data === null) return null;
  return (
    <div class="notice plain">
      <Icon name="bad" />
      <div>
        <strong>Why it does not run:</strong>{" "}
        <span title={data.until ? utc(new Date(data.until)) : ""}>{whyText(data, now)}</span>
      </div>
    </div>
  );
}

function Versions({ path, changed }: { path: string; changed: string }): JSX.Element {
  const { data, error, refresh } = useResource<TaskHistory>(`${path}/history`, 0, changed);
  return (
    <Card title="History">
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={3} />
      ) : (
        <>
          {data.left_out > 0 && <p class="faint">{data.left_out} older versions are left out.</p>}
          <Timeline
            label="Versions"
            moments={data.versions.map((each) => {
              const { title, detail, tone } = versionChapter(each);
              return {
                id: String(each.version),
                at: each.at,
                tone,
                title: `${each.version}. ${title}`,
                detail,
              };
            })}
          />
        </>
      )}
    </Card>
  );
}

interface Props {
  path: string;
  close: () => void;
  done: (text: string) => void;
}

function CancelTask({ path, close, done }: Props): JSX.Element {
  const [why, setWhy] = useState("");
  return (
    <Dialog title="Cancel the task?" close={close}>
      <DeedForm
        name={`Cancel the task ${path.split("/").pop()}`}
        action="Cancel the task"
        danger
        close={close}
        done={() => done("It is cancelled, or asked to stop.")}
        ask={() => ({ method: "POST", path: `${path}/cancel`, body: { why } })}
      >
        <p>One that waits is cancelled. One that runs is asked to stop.</p>
        <label class="field">
          <span>Why? It is kept with the task</span>
          <input
            type="text"
            maxLength={500}
            value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
      </DeedForm>
    </Dialog>
  );
}

function ReplayTask({ path, close, done }: Props): JSX.Element {
  return (
    <Dialog title="Replay the task?" close={close}>
      <DeedForm
        name={`Replay the task ${path.split("/").pop()}`}
        action="Replay"
        close={close}
        done={() => done("It is pending again.")}
        ask={() => ({ method: "POST", path: `${path}/replay` })}
      >
        <p>It begins anew, with its counters at 0.</p>
      </DeedForm>
    </Dialog>
  );
}
