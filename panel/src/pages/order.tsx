// One order: what it is, what became of it, and how that is known.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { segment } from "../api";
import { count, words } from "../logic/format";
import { href } from "../logic/route";
import { saidOf } from "../logic/said";
import { chapterOf } from "../logic/story";
import { termFacts } from "../logic/terms";
import type { Placed, Session } from "../logic/types";
import { useResource } from "../resource";
import { useTrail } from "../trail";
import { Back, Badge, Card, Empty, Facts, Failure, Loading, Notice, Time } from "../ui/basics";
import { Timeline, type Moment } from "../ui/timeline";
import { tell } from "../ui/toast";
import { CancelDialog, ReconcileDialog, ResolveDialog } from "./order_deeds";

type Asked = "reconcile" | "resolve" | "cancel" | null;

export function OrderPage(props: { reference: string; session: Session }): JSX.Element {
  const { reference, session } = props;
  const { data, error, refresh } = useResource<Placed>(
    `/v1/orders/${segment(reference)}/status`,
    3_000,
  );
  const [asked, setAsked] = useState<Asked>(null);
  const dialog = {
    reference,
    close: () => setAsked(null),
    done: (text: string) => {
      setAsked(null);
      tell(text);
      refresh();
    },
  };
  const isOpen = data?.status === "unresolved";
  return (
    <>
      <div class="page-head">
        <Back page="orders">Orders</Back>
        <h1>{reference}</h1>
        {data && <Badge status={data.status} />}
        {isOpen && (
          <button type="button" class="quiet" onClick={() => setAsked("reconcile")}>
            Reconcile
          </button>
        )}
        {isOpen && (
          <button type="button" class="primary" onClick={() => setAsked("resolve")}>
            Resolve
          </button>
        )}
        {session.trading && data?.life === "working" && (
          <button type="button" class="danger" onClick={() => setAsked("cancel")}>
            Cancel
          </button>
        )}
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? !error && <Loading rows={5} /> : <Told placed={data} session={session} />}
      {asked === "reconcile" && <ReconcileDialog {...dialog} />}
      {asked === "resolve" && <ResolveDialog {...dialog} />}
      {asked === "cancel" && <CancelDialog {...dialog} />}
    </>
  );
}

function Told({ placed, session }: { placed: Placed; session: Session }): JSX.Element {
  return (
    <>
      {placed.status === "unresolved" && (
        <Notice tone="warn">
          Nobody knows yet whether the venue has it. It keeps its slot of the week, and is not sent
          again.
        </Notice>
      )}
      <div class="two">
        <div class="column">
          <Card title="Order">
            <Facts
              of={[
                ["Venue", placed.venue],
                ["Order id", placed.order_id || <span class="faint">none yet</span>],
                ["At the venue", words(placed.life)],
                ["Attempts", String(placed.attempts)],
                ...(placed.message
                  ? [["Why", <Said text={placed.message} />] as [string, JSX.Element]]
                  : []),
              ]}
            />
            <Facts
              of={[
                ...termFacts(placed.order),
                ["Placed", <Time at={placed.created_at} as="full" />],
                ["Counts in its week", placed.counts ? "yes" : "no"],
              ]}
            />
          </Card>
          {session.audit && (
            <Attempts reference={placed.external_reference} since={placed.created_at} />
          )}
        </div>
        <Card title="Evidence">
          {placed.evidence.length === 0 ? (
            <Empty title="None">The venue's own answer was enough, or nothing was read yet.</Empty>
          ) : (
            <Timeline
              label="Evidence"
              moments={placed.evidence.map((each, i) => ({
                id: String(i),
                at: each.at,
                title: each.source,
                detail: <Said text={each.says} />,
                tone: "plain",
              }))}
            />
          )}
        </Card>
      </div>
    </>
  );
}

function Attempts(props: { reference: string; since: string }): JSX.Element {
  const { events, looked, over, error } = useTrail(props.reference, props.since);
  const moments: Moment[] = events.map((record) => {
    const chapter = chapterOf(record);
    return {
      id: String(record.seq),
      at: record.timestamp,
      ...chapter,
      detail: chapter.detail && <Said text={chapter.detail} />,
    };
  });
  return (
    <Card
      title="What happened"
      more={<a href={href("audit", [props.reference])}>In the audit log</a>}
    >
      {error && <Failure error={error} />}
      {!over && (
        <p class="faint" role="status">
          Reading the log, up to record {count(looked)}…
        </p>
      )}
      {moments.length > 0 ? (
        <Timeline label="What happened to the order" moments={moments} />
      ) : (
        over &&
        !error && (
          <Empty title="Nothing in the log">It has no record since the order was placed.</Empty>
        )
      )}
    </Card>
  );
}

function Said({ text }: { text: string }): JSX.Element {
  const { short, whole } = saidOf(text);
  if (whole === "") return <>{short}</>;
  return (
    <details>
      <summary>{short}</summary>
      <div class="wrap">{whole}</div>
    </details>
  );
}
