// One order: what it is, what became of it, and how that is known.

import type { JSX } from "preact";

import { segment } from "../api";
import { count, words } from "../logic/format";
import { href } from "../logic/route";
import { chapterOf } from "../logic/story";
import { termFacts } from "../logic/terms";
import type { Placed, Session } from "../logic/types";
import { wordOf } from "../logic/word";
import { useResource } from "../resource";
import { useTrail } from "../trail";
import {
  Back,
  Badge,
  Card,
  Empty,
  Facts,
  Failure,
  NoLog,
  NoSuch,
  Notice,
  Said,
  Shown,
  Time,
} from "../ui/basics";
import { useAsking } from "../ui/dialog";
import { Timeline, type Moment } from "../ui/timeline";
import { CancelDialog, ReconcileDialog, ResolveDialog } from "./order_deeds";

export function OrderPage(props: { reference: string; session: Session }): JSX.Element {
  const { reference, session } = props;
  const placed = useResource<Placed>(`/v1/orders/${segment(reference)}/status`, 3_000);
  const { data, refresh } = placed;
  const { asked, ask, close, done } = useAsking<"reconcile" | "resolve" | "cancel">(refresh);
  const dialog = { reference, close, done };
  const isOpen = data?.status === "unresolved";
  if (placed.error?.status === 404) {
    const back = <Back page="orders">Orders</Back>;
    return (
      <NoSuch what="order" name={reference} back={back} look={refresh}>
        {session.orders
          ? "pawl knows of no order with this reference. Is it whole?"
          : placed.error.message}
      </NoSuch>
    );
  }
  return (
    <>
      <div class="page-head">
        <Back page="orders">Orders</Back>
        <h1>{reference}</h1>
        {data && <Badge status={data.status} />}
        {isOpen && (
          <button type="button" class="quiet" onClick={() => ask("reconcile")}>
            Reconcile
          </button>
        )}
        {isOpen && (
          <button type="button" class="primary" onClick={() => ask("resolve")}>
            Resolve
          </button>
        )}
        {session.trading && data?.life === "working" && (
          <button type="button" class="danger" onClick={() => ask("cancel")}>
            Cancel
          </button>
        )}
      </div>
      <Shown of={placed} rows={5}>
        {(known) => <Told placed={known} session={session} />}
      </Shown>
      {asked === "reconcile" && <ReconcileDialog {...dialog} />}
      {asked === "resolve" && <ResolveDialog {...dialog} />}
      {asked === "cancel" && <CancelDialog {...dialog} />}
    </>
  );
}

const byWord = "by a person's word, not the venue's";

function Told({ placed, session }: { placed: Placed; session: Session }): JSX.Element {
  const word = wordOf(placed);
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
                ["At the venue", word ? `${words(word.stands)}, ${byWord}` : words(placed.life)],
                [
                  "Said by",
                  word && (
                    <>
                      {word.who}, <Time at={word.at} as="full" />
                    </>
                  ),
                ],
                ["Attempts", placed.attempts],
                ["Why", placed.message && <Said text={placed.message} />],
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
          {session.audit ? (
            <Attempts reference={placed.external_reference} since={placed.created_at} />
          ) : (
            <Card title="What happened">
              <NoLog />
            </Card>
          )}
        </div>
        <Card title="Evidence">
          {placed.evidence.length === 0 ? (
            <Empty title="No evidence">
              The venue's own answer was enough, or nothing was read yet.
            </Empty>
          ) : (
            <Timeline
              label="Evidence"
              moments={placed.evidence.map((each, i) => ({
                id: String(i),
                at: each.at,
                title: each.source === "person" ? "A person's word" : each.source,
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
      {error && <Failure error={error} blank={moments.length === 0} />}
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
          <Empty title="No records yet">The log has none since the order was placed.</Empty>
        )
      )}
    </Card>
  );
}
