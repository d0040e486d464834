// The rules in force: limits, what those in shadow would have refused, and the retry matrix.

import type { JSX } from "preact";

import { count, words } from "../logic/format";
import type { LimitPolicy, Policies, RetryPolicy } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Card, Empty, Failure, Loading } from "../ui/basics";

export function PoliciesPage(): JSX.Element {
  const { data, error, refresh } = useResource<Policies>("/v1/policies", 10_000);
  return (
    <>
      <div class="page-head">
        <h1>Policies</h1>
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={8} />
      ) : (
        <>
          <Limits limits={data.limits} />
          <Plans plans={data.plans} />
          <Retries policies={data.retry} />
        </>
      )}
    </>
  );
}

function Limits({ limits }: { limits: LimitPolicy[] }): JSX.Element {
  return (
    <Card title="Limits">
      {limits.length === 0 ? (
        <Empty title="No bucket is configured">Everything is let through.</Empty>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Limits">
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Bucket</th>
                <th scope="col">Refused since the start</th>
                <th scope="col">Counts</th>
                <th scope="col">By</th>
                <th scope="col">Algorithm</th>
                <th scope="col">Rule</th>
              </tr>
            </thead>
            <tbody>
              {limits.map((limit) => (
                <tr key={limit.name}>
                  <th scope="row">{limit.name}</th>
                  <td class="fold">
                    {limit.shadow ? (
                      <>
                        <Badge status="shadow" tone="warn" text="shadow" /> would have been{" "}
                        {count(limit.shadow_refusals)}
                      </>
                    ) : (
                      count(limit.refusals)
                    )}
                  </td>
                  <td class="mono">{limit.match}</td>
                  <td>{words(limit.scope)}</td>
                  <td>{words(limit.algorithm)}</td>
                  <td>{limit.rule}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function Plans({ plans }: { plans: Policies["plans"] }): JSX.Element {
  return (
    <Card title="Plans">
      <div class="scroll" tabIndex={0} role="region" aria-label="Plans">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Plan</th>
              <th scope="col">Rates of its own</th>
              <th scope="col">Offered next</th>
            </tr>
          </thead>
          <tbody>
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
                <td>{plan.next_plan ?? <span class="faint">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

const columns: [string, string][] = [
  ["max_attempts", "Attempts"],
  ["base_delay", "First delay"],
  ["max_delay", "At most"],
  ["multiplier", "Times"],
  ["jitter", "Jitter"],
  ["deadline", "Deadline"],
  ["attempt_timeout", "Timeout"],
];

function Retries({ policies }: { policies: RetryPolicy[] }): JSX.Element {
  return (
    <Card title="Retries" more={<span class="faint">what differs from the default is marked</span>}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Retries">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Category</th>
              {columns.map(([name, title]) => (
                <th key={name} scope="col" class="right">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {policies.map((policy) => (
              <tr key={policy.category}>
                <th scope="row" class="mono">
                  {policy.category}
                </th>
                {columns.map(([name]) => (
                  <td key={name} class="right">
                    {policy.changed.includes(name) ? (
                      <mark title="differs from the default">{shown(policy, name)}</mark>
                    ) : (
                      shown(policy, name)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function shown(policy: RetryPolicy, name: string): string {
  const value = policy[name];
  if (value === undefined || value === null || value === "" || value === "0s") return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
