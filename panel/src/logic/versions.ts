// The versions of a task as moments of a story. Pure.

import { duration, words } from "./format";
import type { Chapter } from "./story";
import { toneOf } from "./tones";
import type { AuditRecord, Version } from "./types";

export function versionChapter(version: Version): Chapter {
  const { status, reason } = version;
  const parts = [
    version.detail ?? "",
    version.worker_id ? `worker ${version.worker_id}` : "",
    version.delay_seconds ? `again in ${duration(Number(version.delay_seconds))}` : "",
  ];
  return {
    title: status === reason ? words(status) : `${words(status)}: ${words(reason)}`,
    detail: parts.filter((part) => part !== "").join("; "),
    tone: toneOf(status),
  };
}

export interface TaskVersion {
  task: string;
  version: Version;
}

export type Step = { at: string; record: AuditRecord } | ({ at: string } & TaskVersion);

/** Records and versions in the order of their times; of one moment, the records first: a task is
 * submitted behind its record. */
export function stepsOf(records: AuditRecord[], versions: TaskVersion[]): Step[] {
  const steps: Step[] = [
    ...records.map((record) => ({ at: record.timestamp, record })),
    ...versions.map((each) => ({ at: each.version.at, ...each })),
  ];
  return steps.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
