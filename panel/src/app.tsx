// The frame around the pages: who is signed in, where one is, whether pawl is there.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, change, get, onSignedOut, useSession } from "./api";
import { useRoute } from "./hooks";
import { follow, tryNow, useLive, type Connection } from "./live";
import { needsOf } from "./logic/needs";
import { href, pages, type Page, type Route } from "./logic/route";
import type { Session } from "./logic/types";
import { AuditPage } from "./pages/audit";
import { IdempotencyPage } from "./pages/idempotency";
import { OrderPage } from "./pages/order";
import { OrdersPage } from "./pages/orders";
import { OverviewPage } from "./pages/overview";
import { PoliciesPage } from "./pages/policies";
import { SignIn, type SignedOut } from "./pages/sign_in";
import { TaskPage } from "./pages/task";
import { TasksPage } from "./pages/tasks";
import { TenantPage } from "./pages/tenant";
import { TenantsPage } from "./pages/tenants";
import { choose, useTheme } from "./theme";
import { onSignOutElsewhere, tellOthers } from "./windows";
import { Failure, Loading, Notice, useBlanks } from "./ui/basics";
import { Unfinished } from "./ui/dialog";
import { Guard } from "./ui/guard";
import { Icon } from "./ui/icons";
import { tell, Toasts } from "./ui/toast";

const titles: { [page in Page]: string } = {
  overview: "Overview",
  tenants: "Tenants",
  idempotency: "Idempotency",
  orders: "Orders",
  tasks: "Tasks",
  audit: "Audit",
  policies: "Policies",
};

type Entry =
  | { state: "asking" }
  | { state: "signed_out"; why: SignedOut }
  | { state: "unreachable"; error: ApiError }
  | { state: "in"; session: Session };

export function App(): JSX.Element {
  const [entry, setEntry] = useState<Entry>({ state: "asking" });
  const enter = (session: Session): void => {
    useSession(session);
    setEntry({ state: "in", session });
  };
  const ask = async (): Promise<void> => {
    try {
      enter(await get<Session>("/v1/session"));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setEntry(
        error.status === 401 ? { state: "signed_out", why: "" } : { state: "unreachable", error },
      );
    }
  };
  useEffect(() => {
    // A wrong token, or nobody signed in yet, is no session that ended.
    onSignedOut(() =>
      setEntry((old) => (old.state === "in" ? { state: "signed_out", why: "over" } : old)),
    );
    void ask();
    return onSignOutElsewhere(() => {
      useSession(null);
      setEntry({ state: "signed_out", why: "elsewhere" });
    });
  }, []);
  switch (entry.state) {
    case "asking":
      return (
        <main class="alone">
          <Loading rows={3} />
        </main>
      );
    case "unreachable":
      return (
        <main class="alone">
          <Failure error={entry.error} again={() => void ask()} />
        </main>
      );
    case "signed_out":
      return <SignIn why={entry.why} entered={enter} />;
    case "in":
      return (
        <Shell
          session={entry.session}
          leave={() => setEntry({ state: "signed_out", why: "" })}
        />
      );
  }
}

function Shell(props: { session: Session; leave: () => void }): JSX.Element {
  const { session } = props;
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const [menu, setMenu] = useState(false);
  const here = [route.page, ...route.names].join("/");
  const first = useRef(true);
  useEffect(follow, []);
  useEffect(() => {
    document.title = [...route.names, titles[route.page], "pawl"].join(" · ");
    setMenu(false);
    window.scrollTo(0, 0);
    // Whoever follows a link by keyboard or by ear begins where the page does.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [here]);
  return (
    <div class={menu ? "shell menu-open" : "shell"}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <TopBar session={session} leave={props.leave} menu={menu} toggle={() => setMenu(!menu)} />
      <Navigation route={route} session={session} />
      <main id="main" ref={main} tabIndex={-1}>
        <Lost />
        <Unfinished />
        <Guard key={here}>
          <PageOf route={route} session={session} />
        </Guard>
      </main>
      <Toasts />
    </div>
  );
}

function PageOf({ route, session }: { route: Route; session: Session }): JSX.Element {
  const [name] = route.names;
  switch (route.page) {
    case "overview":
      return <OverviewPage route={route} />;
    case "tenants":
      return name === undefined ? (
        <TenantsPage route={route} session={session} />
      ) : (
        <TenantPage key={name} tenant={name} route={route} session={session} />
      );
    case "idempotency":
      return <IdempotencyPage route={route} />;
    case "orders":
      return name === undefined ? (
        <OrdersPage route={route} session={session} />
      ) : (
        <OrderPage key={name} reference={name} session={session} />
      );
    case "tasks":
      return name === undefined ? <TasksPage route={route} /> : <TaskPage key={name} id={name} />;
    case "audit":
      return <AuditPage key={name ?? ""} route={route} session={session} />;
    case "policies":
      return <PoliciesPage />;
  }
}

function Navigation({ route, session }: { route: Route; session: Session }): JSX.Element {
  const absent: Page[] = [];
  if (!session.orders) absent.push("orders");
  if (!session.tasks) absent.push("tasks");
  if (!session.audit) absent.push("audit");
  return (
    <nav class="nav" aria-label="Pages">
      {pages.map((page) => (
        <a
          key={page}
          href={href(page)}
          class={absent.includes(page) ? "absent" : ""}
          aria-current={page === route.page ? "page" : undefined}
        >
          <Icon name={page} />
          <span>{titles[page]}</span>
          {page === "overview" && <NeedsCount />}
        </a>
      ))}
    </nav>
  );
}

function NeedsCount(): JSX.Element | null {
  const { overview } = useLive();
  const needs = overview ? needsOf(overview).length : 0;
  if (needs === 0) return null;
  return (
    <b class="count" title="Needs a person">
      {needs}
      <span class="hidden"> need a person</span>
    </b>
  );
}

function TopBar(props: {
  session: Session;
  leave: () => void;
  menu: boolean;
  toggle: () => void;
}): JSX.Element {
  const theme = useTheme();
  const { connection } = useLive();
  const leave = async (): Promise<void> => {
    try {
      await change({ method: "DELETE", path: "/v1/session" });
      useSession(null);
      tellOthers();
      props.leave();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 401) tell(`You are still signed in: ${error.message}`, "bad");
    }
  };
  const other = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <button
        type="button"
        class="icon-button menu-button"
        aria-expanded={props.menu}
        onClick={props.toggle}
      >
        <Icon name={props.menu ? "close" : "menu"} />
        <span class="hidden">Pages</span>
        {!props.menu && <NeedsCount />}
      </button>
      <a class="brand" href={href("overview")}>
        <img src="icon.svg" alt="" width="24" height="24" />
        pawl
      </a>
      <span class="version">{props.session.version}</span>
      <Connected state={connection} />
      <button
        type="button"
        class="icon-button"
        aria-label={`Use the ${other} theme`}
        onClick={() => choose(other)}
      >
        <Icon name={theme === "dark" ? "sun" : "moon"} />
      </button>
      {props.session.csrf !== null && (
        <button
          type="button"
          class="icon-button"
          aria-label="Sign out"
          onClick={() => void leave()}
        >
          <Icon name="out" />
        </button>
      )}
    </header>
  );
}

const connections: { [state in Connection]: string } = {
  connecting: "Connecting",
  live: "Live",
  asked: "Not live",
  lost: "Disconnected",
};

function Connected({ state }: { state: Connection }): JSX.Element {
  return (
    <span class={`connection ${state}`} role="status">
      {connections[state]}
    </span>
  );
}

function Lost(): JSX.Element | null {
  const { connection, overview } = useLive();
  const isBlank = useBlanks() > 0;
  if (connection === "asked") return <NotLive />;
  if (connection !== "lost") return null;
  const again = (
    <button type="button" class="quiet" onClick={tryNow}>
      Try now
    </button>
  );
  return (
    <Notice tone="warn" role="alert" class="lost" more={again}>
      <strong>pawl does not answer.</strong>{" "}
      {overview && !isBlank && "What you see is as it was last heard."}
      {isBlank && "What was not heard for this page yet comes when it is back."} Trying again by
      itself.
    </Notice>
  );
}

function NotLive(): JSX.Element {
  return (
    <Notice tone="warn" role="status">
      <strong>Too many watch.</strong> pawl answers, but has no live stream left for this page; it
      asks every few seconds instead.
    </Notice>
  );
}
