// One tenant: its buckets, its plan, and how its usage went.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { segment } from "../api";
import { useChoice } from "../hooks";
import { pawlNow } from "../live";
import { count, duration } from "../logic/format";
import type { Route } from "../logic/route";
import {
  andMore,
  meanOf,
  spanNames,
  spans,
  spanSeconds,
  wholeSteps,
  type Columns,
} from "../logic/series";
import type {
  BucketUsage,
  Policies,
  SeenTenant,
  Session,
  TenantUsage,
  UsageHistory,
} from "../logic/types";
import {
  fullOfLate,
  isAnonymous,
  isShared,
  limitsOf,
  nextPlans,
  upTo,
  wasSeen,
} from "../logic/usage";
import { useResource } from "../resource";
import { Back, Badge, Card, Empty, Facts, Notice, Shown } from "../ui/basics";
import { Bar } from "../ui/bar";
import { DeedDialog, useAsking } from "../ui/dialog";
import { Select } from "../ui/fields";
import { Icon } from "../ui/icons";
import { lineColors, Plot, SpanChoice, type Line } from "../ui/plot";

type Question = { what: "reset"; bucket: string } | { what: "plan" };

export function TenantPage(props: {
  tenant: string;
  route: Route;
  session: Session;
}): JSX.Element {
  const { tenant } = props;
  const path = `/v1/tenants/${segment(tenant)}`;
  const usage = useResource<TenantUsage>(`${path}/usage`, 2_000);
  const { data, refresh } = usage;
  useMemo(() => data && fullOfLate.note(data, Date.now()), [data]);
  const { asked, ask, close, done } = useAsking<Question>(refresh);
  return (
    <>
      <div class="page-head">
        <Back page="tenants">Tenants</Back>
        <h1>{tenant}</h1>
        {data && <Badge status="plan" text={`plan ${data.plan}`} />}
        {data && !isAnonymous(tenant) && (
          <button type="button" class="quiet" onClick={() => ask({ what: "plan" })}>
            Change plan
          </button>
        )}
      </div>
      <Shown of={usage}>
        {(known) => (
          <>
            <NeverSeen usage={known} />
            <Upgrade usage={known} session={props.session} />
            <Buckets of={known} reset={(bucket) => ask({ what: "reset", bucket })} />
            <History path={path} now={known.buckets} route={props.route} />
          </>
        )}
      </Shown>
      {asked?.what === "reset" && (
        <ResetDialog
          tenant={tenant}
          bucket={asked.bucket}
          path={path}
          close={close}
          done={() => done(`${asked.bucket} of ${tenant} was reset.`)}
        />
      )}
      {asked?.what === "plan" && data && (
        <PlanDialog
          usage={data}
          path={path}
          close={close}
          done={(plan) => done(`${tenant} has the plan ${plan} now.`)}
        />
      )}
    </>
  );
}

// A name that was mistyped has a page like any other: nobody is refused before they have come.
function NeverSeen({ usage }: { usage: TenantUsage }): JSX.Element | null {
  const isUnused = usage.buckets.every((bucket) => isShared(bucket) || bucket.used === 0);
  const { data } = useResource<{ tenants: SeenTenant[] }>(isUnused ? "/v1/tenants" : null);
  if (!isUnused || data === null || wasSeen(data.tenants, usage.tenant)) return null;
  return (
    <Notice tone="plain" role="status">
      <strong>Nothing was counted for this tenant since pawl started.</strong> What is set here
      holds once its first request comes.
    </Notice>
  );
}

function Upgrade({ usage, session }: { usage: TenantUsage; session: Session }): JSX.Element | null {
  const near = usage.buckets.filter((bucket) => bucket.near && !bucket.shadow && !isShared(bucket));
  if (near.length === 0) return null;
  const names = near.map((bucket) => bucket.bucket).join(", ");
  const next = nextPlans(near);
  const isFull = near.some((bucket) => fullOfLate.has(usage.tenant, bucket.bucket));
  return (
    <div class="upgrade" role="note">
      <Icon name="warn" />
      <div>
        <strong>
          {isFull ? "At" : "Near"} the limit of {names}
        </strong>
        {next && <div>{next}</div>}
      </div>
      {session.upgrade && next && (
        <a
          class="button primary"
          href={session.upgrade.link}
          target="_blank"
          rel="noreferrer noopener"
        >
          {session.upgrade.text}
        </a>
      )}
    </div>
  );
}

function Buckets(props: { of: TenantUsage; reset: (bucket: string) => void }): JSX.Element {
  const { tenant, buckets } = props.of;
  return (
    <Card title="Usage">
      {buckets.length === 0 ? (
        <Empty title="No bucket of its own">
          Only buckets that count by tenant or key stand here.
        </Empty>
      ) : (
        buckets.map((bucket) => (
          <BucketRow
            key={bucket.bucket}
            bucket={bucket}
            isFull={fullOfLate.has(tenant, bucket.bucket)}
            reset={() => props.reset(bucket.bucket)}
          />
        ))
      )}
    </Card>
  );
}

function BucketRow(props: {
  bucket: BucketUsage;
  isFull: boolean;
  reset: () => void;
}): JSX.Element {
  const { bucket, isFull, reset } = props;
  const near = bucket.near && !bucket.shadow;
  return (
    <div class="bucket">
      <div class="bucket-head">
        <strong>{bucket.bucket}</strong>
        {near && !isFull && <Badge status="near" text="near the limit" />}
        {near && isFull && <Badge status="denied" text="at the limit, refusing" />}
        {isShared(bucket) && <Badge status="shared" text="shared by all" tone="plain" />}
        {bucket.shadow && <Badge status="shadow" text="shadow: never refuses" />}
        <span class="bucket-numbers">
          {count(bucket.used)} of {count(bucket.limit)}
          <span class="faint">
            {bucket.used > 0 ? `, all free in ${duration(bucket.reset_seconds)}` : ""}
          </span>
        </span>
        {!isShared(bucket) && (
          <button
            type="button"
            class="quiet"
            aria-label={`Reset ${bucket.bucket}`}
            onClick={reset}
          >
            Reset
          </button>
        )}
      </div>
      <Bar
        label={bucket.bucket}
        used={bucket.used}
        limit={bucket.limit}
        near={near}
        full={isFull}
        calm={bucket.shadow}
      />
    </div>
  );
}

function History(props: { path: string; now: BucketUsage[]; route: Route }): JSX.Element {
  const { path, now } = props;
  const [span, setSpan] = useChoice(props.route, "span", spans);
  const history = useResource<UsageHistory>(`${path}/history?span=${span}`, 10_000);
  // Its end is what the bars above it say, and no sample from before that.
  const data = useMemo(() => {
    if (history.data === null || span !== "15m") return history.data;
    return upTo(history.data, pawlNow() / 1000, now);
  }, [history.data, now]);
  const buckets = data?.buckets.slice(0, lineColors.length) ?? [];
  const rest = andMore(data?.buckets.map((each) => each.bucket) ?? [], lineColors.length);
  const key = buckets.map((each) => each.bucket).join("|");
  const lines = useMemo(
    () =>
      buckets.flatMap((each, i): Line[] => {
        const color = lineColors[i] ?? "--line-1";
        return [
          { name: each.bucket, color, fill: i === 0 },
          { name: `limit of ${each.bucket}`, color, dashed: true },
        ];
      }),
    [key],
  );
  const columns = useMemo<Columns>(
    () => [data?.times ?? [], ...buckets.flatMap((each) => [each.used, each.limit])],
    [data],
  );
  return (
    <Card
      title={`Used in the last ${spanNames[span]}`}
      more={<SpanChoice value={span} choose={setSpan} />}
    >
      <Shown of={history} rows={3}>
        {(known) =>
          buckets.length === 0 ? (
            <Empty title="Nothing yet">
              Samples are taken while pawl runs, of the 256 tenants seen last.
            </Empty>
          ) : (
            <>
              <Plot
                seconds={spanSeconds[span]}
                mean={meanOf(span, known.step_seconds)}
                label="Usage"
                lines={lines}
                columns={columns}
                steps={wholeSteps}
              />
              {rest && <p class="faint">{rest}</p>}
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function ResetDialog(props: {
  tenant: string;
  bucket: string;
  path: string;
  close: () => void;
  done: () => void;
}): JSX.Element {
  return (
    <DeedDialog
      title={`Reset ${props.bucket}?`}
      name={`Reset ${props.bucket} of ${props.tenant}`}
      action="Reset"
      danger
      close={props.close}
      ask={() => ({
        method: "POST",
        path: `${props.path}/reset`,
        body: { bucket: props.bucket },
      })}
      done={props.done}
    >
      <p>
        What <strong>{props.tenant}</strong> has used of it is forgotten. It goes into the audit
        log.
      </p>
    </DeedDialog>
  );
}

function PlanDialog(props: {
  usage: TenantUsage;
  path: string;
  close: () => void;
  done: (plan: string) => void;
}): JSX.Element {
  const { data: policies } = useResource<Policies>("/v1/policies");
  const known = policies?.plans.map((each) => each.plan) ?? [props.usage.plan];
  const [plan, setPlan] = useState(props.usage.next_plan ?? props.usage.plan);
  return (
    <DeedDialog
      title={`Change the plan of ${props.usage.tenant}`}
      name={`Change the plan of ${props.usage.tenant}`}
      action={`Change to ${plan}`}
      close={props.close}
      ask={() => ({ method: "PUT", path: `${props.path}/plan`, body: { plan } })}
      done={(answer) => props.done((answer.body as { plan: string }).plan)}
    >
      <Select
        label="Plan"
        value={plan}
        change={setPlan}
        of={known.map((each) => [each, each] as const)}
      />
      {policies && (
        <>
          <p>What {plan} gives:</p>
          <Facts of={limitsOf(plan, policies, props.usage)} />
        </>
      )}
      <p class="faint">It holds from the next request on. What was used stays used.</p>
    </DeedDialog>
  );
}
