// One tenant: its buckets, its plan, and how its usage went.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { segment } from "../api";
import { count, duration } from "../logic/format";
import {
  andMore,
  spanNames,
  spanSeconds,
  spans,
  wholeSteps,
  type Columns,
  type Span,
} from "../logic/series";
import type { BucketUsage, Policies, Session, TenantUsage, UsageHistory } from "../logic/types";
import { nextPlans } from "../logic/usage";
import { useResource } from "../resource";
import { Back, Badge, Card, Choice, Empty, Failure, Loading, Select } from "../ui/basics";
import { Bar } from "../ui/bar";
import { DeedForm, Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Plot, type Line } from "../ui/plot";
import { tell } from "../ui/toast";

type Asked = { what: "reset"; bucket: string } | { what: "plan" } | null;

export function TenantPage(props: { tenant: string; session: Session }): JSX.Element {
  const { tenant } = props;
  const path = `/v1/tenants/${segment(tenant)}`;
  const { data, error, refresh } = useResource<TenantUsage>(`${path}/usage`, 2_000);
  const [asked, setAsked] = useState<Asked>(null);
  const done = (text: string): void => {
    setAsked(null);
    tell(text);
    refresh();
  };
  return (
    <>
      <div class="page-head">
        <Back page="tenants">Tenants</Back>
        <h1>{tenant}</h1>
        {data && <Badge status="plan" text={`plan ${data.plan}`} />}
        {data && (
          <button type="button" class="quiet" onClick={() => setAsked({ what: "plan" })}>
            Change plan
          </button>
        )}
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={4} />
      ) : (
        <>
          <Upgrade usage={data} session={props.session} />
          <Card title="Usage">
            {data.buckets.length === 0 ? (
              <Empty title="No bucket of its own">
                Only buckets that count by tenant or key stand here.
              </Empty>
            ) : (
              data.buckets.map((bucket) => (
                <BucketRow
                  key={bucket.bucket}
                  bucket={bucket}
                  reset={() => setAsked({ what: "reset", bucket: bucket.bucket })}
                />
              ))
            )}
          </Card>
          <History path={path} />
        </>
      )}
      {asked?.what === "reset" && (
        <ResetDialog
          tenant={tenant}
          bucket={asked.bucket}
          path={path}
          close={() => setAsked(null)}
          done={() => done(`${asked.bucket} of ${tenant} was reset.`)}
        />
      )}
      {asked?.what === "plan" && data && (
        <PlanDialog
          usage={data}
          path={path}
          close={() => setAsked(null)}
          done={(plan) => done(`${tenant} has the plan ${plan} now.`)}
        />
      )}
    </>
  );
}

function Upgrade({ usage, session }: { usage: TenantUsage; session: Session }): JSX.Element | null {
  const near = usage.buckets.filter((bucket) => bucket.near && !bucket.shadow);
  if (near.length === 0) return null;
  const names = near.map((bucket) => bucket.bucket).join(", ");
  const next = nextPlans(near);
  const isFull = near.some((bucket) => bucket.used >= bucket.limit);
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

function BucketRow({ bucket, reset }: { bucket: BucketUsage; reset: () => void }): JSX.Element {
  const near = bucket.near && !bucket.shadow;
  const isFull = bucket.used >= bucket.limit;
  return (
    <div class="bucket">
      <div class="bucket-head">
        <strong>{bucket.bucket}</strong>
        {near && !isFull && <Badge status="near" text="near the limit" />}
        {near && isFull && <Badge status="denied" text="at the limit, refusing" />}
        {bucket.shadow && <Badge status="shadow" text="shadow: never refuses" />}
        <span class="bucket-numbers">
          {count(bucket.used)} of {count(bucket.limit)}
          <span class="faint">
            {bucket.used > 0 ? `, free again in ${duration(bucket.reset_seconds)}` : ""}
          </span>
        </span>
        <button type="button" class="quiet" onClick={reset}>
          Reset
        </button>
      </div>
      <Bar
        label={bucket.bucket}
        used={bucket.used}
        limit={bucket.limit}
        near={near}
        calm={bucket.shadow}
      />
    </div>
  );
}

const colors = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5", "--line-6"];

function History({ path }: { path: string }): JSX.Element {
  const [span, setSpan] = useState<Span>("15m");
  const { data, error, refresh } = useResource<UsageHistory>(
    `${path}/history?span=${span}`,
    10_000,
  );
  const buckets = data?.buckets.slice(0, colors.length) ?? [];
  const rest = andMore(data?.buckets.map((each) => each.bucket) ?? [], colors.length);
  const key = buckets.map((each) => each.bucket).join("|");
  const lines = useMemo(
    () =>
      buckets.flatMap((each, i): Line[] => {
        const color = colors[i] ?? "--line-1";
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
      more={
        <Choice
          label="Span"
          value={span}
          choose={setSpan}
          of={spans.map((each) => [each, each] as const)}
        />
      }
    >
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={3} />
      ) : buckets.length === 0 ? (
        <Empty title="Nothing yet">Samples are taken while pawl runs.</Empty>
      ) : (
        <>
          <Plot
            seconds={spanSeconds[span]}
            label="Usage"
            lines={lines}
            columns={columns}
            steps={wholeSteps}
          />
          {rest && <p class="faint">{rest}</p>}
        </>
      )}
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
    <Dialog title={`Reset ${props.bucket}?`} close={props.close}>
      <DeedForm
        name={`Reset ${props.bucket} of ${props.tenant}`}
        action="Reset"
        danger
        close={props.close}
        done={props.done}
        ask={() => ({
          method: "POST",
          path: `${props.path}/reset`,
          body: { bucket: props.bucket },
        })}
      >
        <p>
          What <strong>{props.tenant}</strong> has used of it is forgotten. It goes into the audit
          log.
        </p>
      </DeedForm>
    </Dialog>
  );
}

function PlanDialog(props: {
  usage: TenantUsage;
  path: string;
  close: () => void;
  done: (plan: string) => void;
}): JSX.Element {
  const known = useResource<Policies>("/v1/policies").data?.plans.map((each) => each.plan) ?? [
    props.usage.plan,
  ];
  const [plan, setPlan] = useState(props.usage.next_plan ?? props.usage.plan);
  return (
    <Dialog title={`Change the plan of ${props.usage.tenant}`} close={props.close}>
      <DeedForm
        name={`Change the plan of ${props.usage.tenant}`}
        action={`Change to ${plan}`}
        close={props.close}
        done={(answer) => props.done((answer.body as { plan: string }).plan)}
        ask={() => ({ method: "PUT", path: `${props.path}/plan`, body: { plan } })}
      >
        <Select
          label="Plan"
          value={plan}
          change={setPlan}
          of={known.map((each) => [each, each] as const)}
        />
        <p class="faint">It holds from the next request on. What was used stays used.</p>
      </DeedForm>
    </Dialog>
  );
}
