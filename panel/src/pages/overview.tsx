// The whole of pawl at a glance: what needs a person first, then how it goes, now and of late.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { useChoice } from "../hooks";
import { useLive } from "../live";
import { coarse, count, duration, durationShort, plural, rate, short } from "../logic/format";
import { needsOf, type Need } from "../logic/needs";
import {
  ageSteps,
  andMore,
  appended,
  columnsOf,
  linesWith,
  meanOf,
  spanNames,
  spans,
  spanSeconds,
  wholeSteps,
  type Span,
} from "../logic/series";
import { href, type Route } from "../logic/route";
import type { Overview, Series } from "../logic/types";
import { isUsedUp } from "../logic/week";
import { useResource, type Resource } from "../resource";
import { Awaited, Badge, Card, Empty, Loading, Shown, Tile, Time } from "../ui/basics";
import { Slots } from "../ui/bar";
import { Icon } from "../ui/icons";
import { lineColors, Plot, SpanChoice, type Line, type PlotProps } from "../ui/plot";

export function OverviewPage({ route }: { route: Route }): JSX.Element {
  const { overview, connection } = useLive();
  const isLost = connection === "lost";
  return (
    <>
      <h1 class="hidden">Overview</h1>
      {overview === null ? (
        isLost ? <Awaited /> : <Loading as="tiles" rows={7} />
      ) : (
        <>
          <Needs needs={needsOf(overview)} isKnown={!isLost} />
          <Tiles now={overview} />
        </>
      )}
      <Plots now={overview} route={route} />
      {overview && <Stores now={overview} />}
    </>
  );
}

function Needs({ needs, isKnown }: { needs: Need[]; isKnown: boolean }): JSX.Element {
  if (needs.length === 0 && !isKnown) {
    return <p class="calm unsure">Whether something needs a person is not known.</p>;
  }
  if (needs.length === 0) {
    return (
      <p class="calm">
        <Icon name="check" />
        Nothing needs a person.
      </p>
    );
  }
  return (
    <section class="needs" aria-label="What needs a person">
      {needs.map((need) => (
        <article key={need.id} class={`need ${need.level}`}>
          <Icon name={need.level} />
          <div>
            <h2>{need.title}</h2>
            <p>{need.detail}</p>
          </div>
          {need.link && (
            <a class="button" href={need.link}>
              {need.action}
            </a>
          )}
        </article>
      ))}
    </section>
  );
}

function Tiles({ now }: { now: Overview }): JSX.Element {
  const { rates, retries, queue } = now;
  const orders = now.orders;
  return (
    <section class="tiles" aria-label="Now">
      <Tile name="Allowed" value={rate(rates.allowed)} unit="/s" />
      <Tile
        name="Refused"
        value={rate(rates.refused)}
        unit="/s"
        tone={rates.refused > 0 ? "warn" : "plain"}
      />
      <Tile name="Replayed" value={rate(rates.replayed)} unit="/s" />
      <Tile
        name="Retries"
        value={short(retries.last_minute)}
        unit="/min"
        tone={retries.alert ? "bad" : "plain"}
      />
      {queue && (
        <Tile
          name="Tasks due"
          value={short(queue.due)}
          detail={`of ${count(queue.pending)} pending`}
        />
      )}
      {queue && (
        <Tile
          name="Oldest due task"
          value={queue.due > 0 ? coarse(queue.oldest_due_seconds) : "–"}
          tone={queue.oldest_due_seconds >= 300 ? "warn" : "plain"}
        />
      )}
      {orders?.quota && (
        <Tile
          name="Weekly orders"
          value={short(orders.quota.used)}
          unit={orders.quota.enabled ? ` of ${short(orders.quota.limit)}` : ""}
          tone={isUsedUp(orders.quota) ? "warn" : "plain"}
          detail={
            orders.quota.enabled ? (
              <Slots used={orders.quota.used} limit={orders.quota.limit} />
            ) : (
              "no limit"
            )
          }
        />
      )}
    </section>
  );
}

const pointsMost = 900;
const requestLines: Line[] = [
  { name: "allowed", color: "--line-1", fill: true },
  { name: "refused", color: "--line-2" },
  { name: "replayed", color: "--line-3" },
];
const queueLines: Line[] = [
  { name: "due", color: "--line-2", fill: true },
  { name: "pending", color: "--line-1" },
  { name: "running", color: "--line-3" },
];
const ageLines: Line[] = [{ name: "oldest due", color: "--line-4", fill: true }];

function valuesOf(now: Overview): { [name: string]: number } {
  const values: { [name: string]: number } = { ...now.rates, retries: now.retries.last_minute };
  for (const [code, amount] of Object.entries(now.retries.categories))
    values[`retry.${code}`] = amount;
  if (now.queue) {
    values["queue.due"] = now.queue.due;
    values["queue.pending"] = now.queue.pending;
    values["queue.running"] = now.queue.running;
    values["queue.oldest"] = now.queue.oldest_due_seconds;
  }
  return values;
}

// The finest one goes on by itself, with every sample of the stream; the others are asked for anew.
function useSeries(span: Span, now: Overview | null): Resource<Series> {
  const kept = useResource<Series>(`/v1/series?span=${span}`, span === "15m" ? 60_000 : 15_000);
  const [grown, setGrown] = useState<Series | null>(null);
  const withNow = (series: Series | null): Series | null => {
    if (series === null || now === null || span !== "15m") return series;
    return appended(series, Math.floor(Date.parse(now.at) / 1000), valuesOf(now), pointsMost);
  };
  useEffect(() => setGrown(withNow(kept.data)), [kept.data]);
  useEffect(() => {
    // While the page was hidden nothing was heard.
    const look = (): void => void (document.hidden || kept.refresh());
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [kept.refresh]);
  useEffect(() => setGrown(withNow), [now?.at]);
  return { ...kept, data: kept.data && (grown ?? kept.data) };
}

function Plots({ now, route }: { now: Overview | null; route: Route }): JSX.Element {
  const [span, setSpan] = useChoice(route, "span", spans);
  const series = useSeries(span, now);
  return (
    <section aria-label="Of late">
      <div class="bar-of-tools">
        <h2>The last {spanNames[span]}</h2>
        <SpanChoice value={span} choose={setSpan} />
      </div>
      <Shown of={series} as="plots">
        {(data) => (
          <Drawn series={data} span={span} withQueue={now === null || now.queue !== null} />
        )}
      </Shown>
    </section>
  );
}

interface DrawnProps {
  series: Series;
  span: Span;
  withQueue: boolean;
}

function Drawn({ series, span, withQueue }: DrawnProps): JSX.Element {
  const reach = { seconds: spanSeconds[span], mean: meanOf(span, series.step_seconds) };
  return (
    <div class="plots">
      <PlotCard
        {...reach}
        label="Requests a second"
        lines={requestLines}
        series={series}
        of={["allowed", "refused", "replayed"]}
        show={rate}
        axis={short}
      />
      <Retries series={series} reach={reach} />
      {withQueue && (
        <PlotCard
          {...reach}
          label="Tasks"
          lines={queueLines}
          series={series}
          of={["queue.due", "queue.pending", "queue.running"]}
          steps={wholeSteps}
        />
      )}
      {withQueue && (
        <PlotCard
          {...reach}
          label="Age of the oldest due task"
          lines={ageLines}
          series={series}
          of={["queue.oldest"]}
          show={duration}
          axis={durationShort}
          steps={ageSteps}
          least={60}
        />
      )}
    </div>
  );
}

interface PlotCardProps extends Omit<PlotProps, "columns"> {
  series: Series;
  of: string[]; // what its lines are called there
}

function PlotCard({ series, of, ...plot }: PlotCardProps): JSX.Element {
  const columns = useMemo(() => columnsOf(series, of), [series]);
  return (
    <Card title={plot.label}>
      <Plot {...plot} columns={columns} />
    </Card>
  );
}

interface Reach {
  seconds: number;
  mean: number | undefined;
}

function Retries({ series, reach }: { series: Series; reach: Reach }): JSX.Element {
  const all = linesWith(series, "retry.");
  const names = all.slice(0, lineColors.length);
  const rest = andMore(all, lineColors.length);
  const key = names.join("|");
  const lines = useMemo(
    () => names.map((name, i) => ({ name, color: lineColors[i] ?? "--line-1" })),
    [key],
  );
  const columns = useMemo(
    () =>
      columnsOf(
        series,
        names.map((name) => `retry.${name}`),
      ),
    [series, key],
  );
  return (
    <Card title="Retries a minute, by category">
      {names.length === 0 ? (
        <Empty title="No retries">No operation had to be tried again.</Empty>
      ) : (
        <>
          <Plot
            {...reach}
            label="Retries a minute"
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

function Stores({ now }: { now: Overview }): JSX.Element {
  return (
    <Card title="Stores">
      <ul class="stores in-columns">
        {now.stores.map((store) => (
          <li key={store.name}>
            <span>{store.name}</span>
            <Badge status={store.state} />
            {store.probed_at && (
              <span class="faint" title={store.seen ?? ""}>
                durability: {store.durability ?? "not ours to see"}, probed{" "}
                <Time at={store.probed_at} />
              </span>
            )}
            {store.detail && <span class="store-detail">{withCode(store.detail)}</span>}
          </li>
        ))}
      </ul>
      {now.orders && now.orders.under_way > 0 && (
        <p class="faint">
          <a href={href("orders")}>{plural(now.orders.under_way, "order")}</a> under way.
        </p>
      )}
    </Card>
  );
}

// What stands in backticks is to be typed.
function withCode(text: string): (string | JSX.Element)[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
}
