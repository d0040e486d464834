// Usage of tenants as rows of a table: one for each bucket. Pure.

import type { BucketUsage, TenantUsage } from "./types";

export interface UsageRow {
  tenant: TenantUsage;
  bucket: BucketUsage | null; // null: it has none of its own
}

export function rowsOf(tenants: readonly TenantUsage[]): UsageRow[] {
  return tenants.flatMap((tenant): UsageRow[] =>
    tenant.buckets.length === 0
      ? [{ tenant, bucket: null }]
      : tenant.buckets.map((bucket) => ({ tenant, bucket })),
  );
}

/** How much of the limit is used; above 1 where more was used than is allowed now. */
export function shareOf({ bucket }: UsageRow): number | null {
  if (bucket === null) return null;
  if (bucket.limit > 0) return bucket.used / bucket.limit;
  return bucket.used > 0 ? 1 : 0;
}

const belowAll = 1_000_000;

/** By it who is nearest to a refusal comes first; what is in shadow stands below all else. */
export function rankOf(row: UsageRow): number | null {
  const share = shareOf(row);
  return share !== null && row.bucket?.shadow ? share - belowAll : share;
}

/** A bucket in shadow never refuses, so nobody is near its limit. */
export function isNear({ bucket }: UsageRow): boolean {
  return bucket !== null && bucket.near && !bucket.shadow;
}
