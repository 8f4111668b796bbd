import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { retryingCall } from "@gennai/client/connection/retrying-call";
import type { HostNotice } from "@gennai/client/host/host-messages";
import type { ChosenModel } from "@gennai/client/host/window-requests";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { editingModeWords } from "@gennai/protocol/model/session/session-settings";
import { PageAccess } from "./page-access.ts";
import { canRemember, loginByDevice, PageDevices } from "./page-device.ts";
import { PageDoor } from "./page-door.ts";
import { takeLinkCode } from "./page-link.ts";
import type { ReplHost } from "./repl-host.ts";

const stateKey = "gennai.state";
const sessionKey = "gennai.session";
const clientKey = "gennai.client";
/** Key in the browser's storage, which all tabs share and later visits keep. */
const modelKey = "gennai.model";
/** Most characters of the state that are kept over a reload. */
const maxState = 64 * 1024;

/**
 * The app's host in a page that the server serves. Resolves when the server lets the page in: by the link's one-time code, by the
 * token from before a reload, or by a link that is pasted into the page. Rejects if the server does not answer.
 */
export async function connectPageHost(page: Window = window): Promise<ReplHost> {
  const { sessionStorage: storage } = page;
  // Before anything else: a code in the address bar can be read by others, and gets into the browser's history.
  const code = takeLinkCode(page);
  const listeners = new Set<(notice: HostNotice) => void>();
  const notify = (notice: HostNotice) => {
    for (const listener of listeners) listener(notice);
  };
  const interceptors: Interceptor[] = [];
  let devices: PageDevices | undefined;
  if (metaOf(page.document, "gennai-auth") !== "none") {
    const remembered = () => loginByDevice(page);
    const access = new PageAccess({ storage, door: new PageDoor(page.document), notify, remembered });
    if (canRemember(page)) devices = new PageDevices(page, () => access.token);
    page.addEventListener("hashchange", () => {
      const later = takeLinkCode(page);
      if (later !== undefined) void access.use(later);
    });
    await access.begin(code);
    interceptors.push(access.interceptor);
  }
  const transport = createGrpcWebTransport({ baseUrl: page.location.origin, interceptors });
  const client = createClient(AgentService, transport);
  const { signal } = new AbortController();
  const [info, clientId] = await Promise.all([
    retryingCall(() => client.getServerInfo({}, { signal }), { signal, attempts: 6 }),
    clientIdOf(page),
  ]);
  return {
    kind: "page",
    transport,
    ...(devices === undefined ? {} : { devices }),
    launch: {
      clientId,
      clientName: "gennai-page",
      version: metaOf(page.document, "gennai-version") ?? info.version,
      workspace: info.defaultWorkingDir === "" ? undefined : info.defaultWorkingDir,
      sessionId: storage.getItem(sessionKey) ?? undefined,
      state: parsed(storage.getItem(stateKey)),
      settings: {
        showThinking: true,
        ...keptModel(parsed(page.localStorage.getItem(modelKey))),
        scenario: "",
        editingMode: editingModeWords.fromMessage(info.defaultSettings?.editingMode) ?? "branch",
      },
    },
    saveState(state) {
      const text = JSON.stringify(state) ?? "null";
      if (text.length <= maxState) storage.setItem(stateKey, text);
    },
    showsSession(sessionId) {
      storage.setItem(sessionKey, sessionId);
    },
    async keepModel(choice) {
      page.localStorage.setItem(modelKey, JSON.stringify(choice));
    },
    onNotice(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/**
 * The tab's own id, the same after a reload. A duplicated tab has a copy of the first one's id: the page that holds the lock on
 * the id keeps it until it is closed.
 */
async function clientIdOf({ sessionStorage: storage, navigator, crypto }: Window): Promise<string> {
  const known = storage.getItem(clientKey);
  if (known !== null && (await isMine(navigator, known))) return known;
  const fresh = crypto.randomUUID();
  storage.setItem(clientKey, fresh);
  await isMine(navigator, fresh);
  return fresh;
}

function isMine(navigator: Navigator, clientId: string): Promise<boolean> {
  // Pages at an address that is not a secure context have no locks.
  if (!("locks" in navigator)) return Promise.resolve(true);
  return new Promise((resolve) => {
    void navigator.locks.request(`gennai-client-${clientId}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise<void>(() => undefined);
    });
  });
}

function metaOf(document: Document, name: string): string | undefined {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? undefined;
}

function keptModel(value: unknown): Pick<ReplHost["launch"]["settings"], "backend" | "model" | "modelUrl"> {
  const text = (name: keyof ChosenModel): string => {
    const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : "";
    return typeof found === "string" ? found : "";
  };
  return { backend: text("backend"), model: text("model"), modelUrl: text("baseUrl") };
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
