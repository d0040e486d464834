// Numbers and times as people read them. Pure: whoever asks says what time it is.

const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 12,345 */
export function count(value: number): string {
  return counts.format(value);
}

/** Three digits at the most, so that a number that moves keeps its width: 0.42, 7.5, 134, 12.3k */
export function short(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size >= 999_500_000) return trimmed(value / 1_000_000_000) + "G";
  if (size >= 999_500) return trimmed(value / 1_000_000) + "M";
  if (size >= 9_999.5) return trimmed(value / 1_000) + "k";
  if (size >= 1_000) return counts.format(value);
  return trimmed(value);
}

function trimmed(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size === 0 ? 0 : 2;
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A rate a second that keeps one decimal: 0.0, 3.4, 120 */
export function rate(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) < 99.95 ? value.toFixed(1) : short(value);
}

/** 45 s, 3 min, 2 h 5 min, 6 d 4 h */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60)
    return minutes < 10 && whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return hours % 24 && days < 10 ? `${days} d ${hours % 24} h` : `${days} d`;
}

/** For the side of a plot, where there is little room: 40s, 5m, 3h, 2d */
export function durationShort(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)}s`;
  if (seconds < 3_600) return `${trimmed(seconds / 60)}m`;
  if (seconds < 172_800) return `${trimmed(seconds / 3_600)}h`;
  return `${trimmed(seconds / 86_400)}d`;
}

/** "3 min ago", "in 2 h", "now" */
export function relative(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds < 0 ? `${coarse(-seconds)} ago` : `in ${coarse(seconds)}`;
}

/** In a column of ages, where "ago" is understood: "3 min", "in 2 h" */
export function since(at: number, now: number): string {
  return relative(at, now).replace(" ago", "");
}

/** In one unit: 45 s, 7 min, 3 h */
export function coarse(seconds: number): string {
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 3_570) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** 2026-01-31 14:05:09, in the reader's own zone */
export function local(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** 13:05:09.042: what follows within a second is told apart */
export function instant(at: Date): string {
  return `${local(at).slice(11)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** The same day is told by its time alone. */
export function localShort(at: Date, now: Date): string {
  const text = local(at);
  if (text.slice(0, 10) === local(now).slice(0, 10)) return text.slice(11);
  return at.getFullYear() === now.getFullYear() ? text.slice(5, 16) : text.slice(0, 16);
}

/** 2026-01-31 13:05:09 UTC */
export function utc(at: Date): string {
  return at.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

/** What a person calls it: in_flight → in flight */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The middle of a long id is left out. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** 1 order, 2 orders */
export function plural(amount: number, one: string, many = one + "s"): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}
