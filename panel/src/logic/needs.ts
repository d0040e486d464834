// What needs a person, in the order in which it should have one. Pure.

import { duration, plural } from "./format";
import { href } from "./route";
import type { Overview } from "./types";

export interface Need {
  id: string;
  level: "bad" | "warn";
  title: string;
  detail: string;
  link: string | null;
  action: string;
}

export function needsOf(now: Overview): Need[] {
  const all = [
    ...ofOrders(now),
    ...ofWrites(now),
    ...ofStores(now),
    ...ofBreakers(now),
    ...ofTasks(now),
    ...ofRetries(now),
  ];
  return [
    ...all.filter((need) => need.level === "bad"),
    ...all.filter((need) => need.level === "warn"),
  ];
}

function ofOrders(now: Overview): Need[] {
  const unresolved = now.orders?.unresolved ?? 0;
  const left = now.orders?.left_open ?? 0;
  const needs: Need[] = [];
  if (unresolved > 0) {
    needs.push({
      id: "unresolved_orders",
      level: "bad",
      title: `${plural(unresolved, "order")} unresolved`,
      detail:
        `Nobody knows whether the venue has ${unresolved === 1 ? "it" : "them"}. ` +
        "Reconcile, or say what you found out.",
      link: href("orders", [], { show: "unresolved" }),
      action: unresolved === 1 ? "See it" : "See them",
    });
  }
  if (left > 0) {
    needs.push({
      id: "left_open_orders",
      level: "warn",
      title: `${plural(left, "order")} left open`,
      detail: "A process ended while it worked there. pawl looks for what became of it by itself.",
      link: href("orders", [], { show: "unresolved" }),
      action: left === 1 ? "See it" : "See them",
    });
  }
  return needs;
}

function ofWrites(now: Overview): Need[] {
  const unknown = now.idempotency.unknown ?? 0;
  if (unknown === 0) return [];
  return [
    {
      id: "unknown_writes",
      level: "bad",
      title: `${plural(unknown, "write")} of unknown outcome`,
      detail:
        `Nobody knows whether the service behind executed ${unknown === 1 ? "it" : "them"}. ` +
        "Find out there, then say so.",
      link: href("idempotency", [], { show: "unknown" }),
      action: unknown === 1 ? "See it" : "See them",
    },
  ];
}

function ofStores(now: Overview): Need[] {
  // Orders of unknown outcome make their store degraded, and are told by themselves.
  const isTold = (now.orders?.unresolved ?? 0) + (now.orders?.left_open ?? 0) > 0;
  const needs: Need[] = now.stores
    .filter((store) => store.state !== "ok" && !(store.name === "Orders" && isTold))
    .map((store) => ({
      id: `store_${store.name}`,
      level: store.state === "down" ? "bad" : "warn",
      title: `${store.name}: ${store.state === "down" ? "not available" : "degraded"}`,
      detail: store.detail ?? "",
      link: null,
      action: "",
    }));
  if (!now.ready) {
    needs.push({
      id: "not_ready",
      level: "bad",
      title: "Not ready for requests",
      detail: now.detail ?? "",
      link: null,
      action: "",
    });
  } else if (needs.length === 0 && now.detail && !isTold) {
    needs.push({
      id: "degraded",
      level: "warn",
      title: "Degraded",
      detail: now.detail,
      link: null,
      action: "",
    });
  }
  return needs;
}

function ofBreakers(now: Overview): Need[] {
  return now.breakers
    .filter((breaker) => breaker.state !== "closed")
    .map((breaker) => ({
      id: `breaker_${breaker.name}`,
      level: breaker.state === "open" ? "bad" : "warn",
      title: `Circuit breaker ${breaker.state.replace("_", " ")}: ${breaker.name}`,
      detail:
        `For ${duration(secondsBetween(breaker.since, now.at))} calls to it are held back after ` +
        "repeated failures; a probe goes out now and then.",
      // The attempts that failed, with what they failed of; a breaker's own records do not say it.
      link: href("audit", [], { type: "retry_attempt" }),
      action: "See the failures",
    }));
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

function ofTasks(now: Overview): Need[] {
  const needs: Need[] = [];
  const queue = now.queue;
  if (queue && queue.failed > 0) {
    needs.push({
      id: "failed_tasks",
      level: "warn",
      title: `${plural(queue.failed, "task")} failed`,
      detail: "Out of retries, or failed for good. Look at the error, then replay.",
      link: href("tasks", [], { status: "failed" }),
      action: queue.failed === 1 ? "See it" : "See them",
    });
  }
  if (queue && queue.oldest_due_seconds >= overdueSeconds) {
    needs.push({
      id: "overdue_tasks",
      level: "warn",
      title: `A task has been due for ${duration(queue.oldest_due_seconds)}`,
      detail:
        `${plural(queue.due, "task")} due and ${queue.running} running: ` +
        "too few workers, none, or something that is closed or limited.",
      link: href("tasks", [], { status: "pending", order: "due" }),
      action: "See why",
    });
  }
  return needs;
}

const overdueSeconds = 300;

function ofRetries(now: Overview): Need[] {
  if (!now.retries.alert) return [];
  return [
    {
      id: "retry_rate",
      level: "warn",
      title: "Many retries",
      detail: `${now.retries.last_minute} in the last minute: another side is in trouble.`,
      link: href("audit", [], { type: "retry_attempt" }),
      action: "See them",
    },
  ];
}
