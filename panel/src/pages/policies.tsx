// The rules in force: limits, what those in shadow would have refused, and plans. Below them the
// retry policies of the configuration, which pawl checks and shows, and does not go by itself.

import type { ComponentChildren, JSX } from "preact";

import { count, words } from "../logic/format";
import { href } from "../logic/route";
import type { LimitPolicy, Policies, RetryPolicy } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Card, Empty, None, Shown } from "../ui/basics";

export function PoliciesPage(): JSX.Element {
  const policies = useResource<Policies>("/v1/policies", 10_000);
  return (
    <>
      <div class="page-head">
        <h1>Policies</h1>
      </div>
      <Shown of={policies} rows={8}>
        {({ limits, plans, retry }) => (
          <>
            <Limits limits={limits} />
            <Plans plans={plans} />
            <Retries policies={retry} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Its first column names the rows; `align` is that of the others. */
function PlainTable(props: {
  label: string;
  head: string[];
  align?: "right";
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table class="plain-table">
        <thead>
          <tr>
            {props.head.map((title, i) => (
              <th key={title} scope="col" class={i > 0 ? props.align : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

function Limits({ limits }: { limits: LimitPolicy[] }): JSX.Element {
  return (
    <Card title="Limits">
      {limits.length === 0 ? (
        <Empty title="No bucket is configured">Everything is let through.</Empty>
      ) : (
        <PlainTable
          label="Limits"
          head={["Bucket", "Refused since the start", "Counts", "By", "Algorithm", "Rule"]}
        >
          {limits.map((limit) => (
            <tr key={limit.name}>
              <th scope="row">{limit.name}</th>
              <td class="fold">
                {limit.shadow ? (
                  <>
                    <Badge status="shadow" tone="warn" /> would have been{" "}
                    <Refused by={limit.name} times={limit.shadow_refusals} />
                  </>
                ) : (
                  <Refused by={limit.name} times={limit.refusals} />
                )}
              </td>
              <td class="mono">{limit.match}</td>
              <td>{words(limit.scope)}</td>
              <td>{words(limit.algorithm)}</td>
              <td>{limit.rule}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </Card>
  );
}

/** To the decisions themselves: whom, and when. */
function Refused({ by, times }: { by: string; times: number }): JSX.Element {
  if (times === 0) return <>{count(times)}</>;
  return (
    <a href={href("audit", [], { refused_by: by })} title="Whom, and when">
      {count(times)}
    </a>
  );
}

function Plans({ plans }: { plans: Policies["plans"] }): JSX.Element {
  return (
    <Card title="Plans">
      <PlainTable label="Plans" head={["Plan", "Rates of its own", "Offered next"]}>
        {plans.map((plan) => (
          <tr key={plan.plan}>
            <th scope="row">{plan.plan}</th>
            <td>
              {plan.rates.length === 0 ? (
                <span class="faint">as the buckets have them</span>
              ) : (
                plan.rates.map((rate) => `${rate.bucket} ${rate.rate}`).join(", ")
              )}
            </td>
            <td>{plan.next_plan ?? <None />}</td>
          </tr>
        ))}
      </PlainTable>
    </Card>
  );
}

const columns: [string, string][] = [
  ["max_attempts", "Attempts"],
  ["base_delay", "First delay"],
  ["min_delay", "Least delay"],
  ["max_delay", "Longest delay"],
  ["multiplier", "Multiplier"],
  ["jitter", "Jitter"],
  ["deadline", "Deadline"],
  ["attempt_timeout", "Timeout"],
];
// In place of these, where the policy has a table of delays.
const byTable = ["base_delay", "multiplier"];

function Retries({ policies }: { policies: RetryPolicy[] }): JSX.Element {
  return (
    <Card
      title="Retry policies"
      more={<span class="faint">what differs from the default is marked</span>}
    >
      <p class="faint">
        The defaults, with what <code>retry.policies</code> changes. pawl serve checks and shows
        them, and retries nothing by them: orders, tasks and webhooks have rules of their own, and
        programs that use pawl as a library give their policies in code.
      </p>
      <PlainTable
        label="Retry policies"
        head={["Category", ...columns.map(([, title]) => title), "Retried or not, by class"]}
        align="right"
      >
        {policies.map((policy) => (
          <tr key={policy.category}>
            <th scope="row" class="mono">
              {breakable(policy.category)}
            </th>
            {columns.map(([name]) => {
              const told = byTable.includes(name) && hasTable(policy) ? "delays" : name;
              const isLeftOut = told !== name && name !== byTable[0];
              return (
                <td key={name} class="right">
                  {isLeftOut ? <None /> : <Value of={policy} name={told} />}
                </td>
              );
            })}
            <td>
              <Classes of={policy} />
            </td>
          </tr>
        ))}
      </PlainTable>
    </Card>
  );
}

function Value({ of: policy, name }: { of: RetryPolicy; name: string }): JSX.Element {
  const text = shown(policy, name);
  if (!policy.changed.includes(name)) return <>{text}</>;
  return <mark title="differs from the default">{text}</mark>;
}

function hasTable(policy: RetryPolicy): boolean {
  return Array.isArray(policy["delays"]) && policy["delays"].length > 0;
}

// What the policy says of classes of failures; what it says nothing of is retried.
function Classes({ of: policy }: { of: RetryPolicy }): JSX.Element {
  const said = ["retryable", "non_retryable"].filter((name) => shown(policy, name) !== "–");
  if (said.length === 0) return <None />;
  return (
    <>
      {said.map((name) => (
        <div key={name}>
          {name === "retryable" ? "retried: " : "not: "}
          <Value of={policy} name={name} />
        </div>
      ))}
    </>
  );
}

// Between its words, where there is little room.
function breakable(name: string): (string | JSX.Element)[] {
  return name.split(/(?<=_)/).flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]));
}

function shown(policy: RetryPolicy, name: string): string {
  const value = policy[name];
  if (value === undefined || value === null || value === "" || value === "0s") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
