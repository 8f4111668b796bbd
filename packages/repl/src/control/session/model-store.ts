import type { AgentClient } from "@gennai/client/connection/connection";
import { listModels, type ModelTrial, type ProviderChoice, tryModel } from "@gennai/client/host/model-choices";
import type { ReplHost } from "@gennai/client/host/repl-host";
import type { ChosenModel } from "@gennai/client/host/window-requests";
import { setModelKey } from "@gennai/client/session/model-key";
import type { Backend } from "@gennai/protocol/model/session/backend";
import { settingsFromMessage } from "@gennai/protocol/model/session/session-settings";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Problem, problemOf } from "../../look/problem.ts";

/** What a person looks at while choosing a model. */
export interface ModelStoreState {
  readonly providers: readonly ProviderChoice[];
  /** What is under way; undefined: nothing. */
  readonly busy: "listing" | "trying" | "setting the key" | undefined;
  /** The last trial, and its model. */
  readonly trial: { readonly of: ChosenModel; readonly outcome: ModelTrial } | undefined;
  readonly problem: Problem | undefined;
}

export interface ModelStoreOptions {
  readonly client: AgentClient;
  readonly host: Pick<ReplHost, "keepModelKey" | "listEditorModels" | "tryEditorModel">;
  /** Called when the form opens. */
  readonly onOpen: () => void;
  readonly signal: AbortSignal;
}

/** Models that a person can choose, their keys, and trials. Nothing here changes a session. */
export class ModelStore {
  /** True while the form is open. */
  readonly opened = signal(false);
  readonly #options: ModelStoreOptions;
  readonly #state = signal<ModelStoreState>({ providers: [], busy: undefined, trial: undefined, problem: undefined });
  readonly #defaultBackend = signal<Backend | undefined>(undefined);

  constructor(options: ModelStoreOptions) {
    this.#options = options;
  }

  get state(): ReadonlySignal<ModelStoreState> {
    return this.#state;
  }

  /** The server's backend for users who choose none; undefined if not known yet. */
  get defaultBackend(): ReadonlySignal<Backend | undefined> {
    return this.#defaultBackend;
  }

  open(): void {
    this.#options.onOpen();
    this.opened.value = true;
  }

  /** Never rejects: without an answer, it stays unknown. */
  async learnDefault(): Promise<void> {
    const { client, signal: end } = this.#options;
    try {
      const { defaultSettings } = await client.getServerInfo({}, { signal: end });
      if (defaultSettings !== undefined) this.#defaultBackend.value = settingsFromMessage(defaultSettings).backend;
    } catch {
      // Connection problems have a banner of their own.
    }
  }

  /** Lists the models of all providers. @param place the user's own server that is in use */
  async list(place: ChosenModel | undefined): Promise<void> {
    const { client, host, signal: end } = this.#options;
    this.#set({ trial: undefined });
    await this.#do("Listing models", "listing", async () => {
      const [providers, own, editors] = await Promise.all([
        listModels(client, undefined, { signal: end }),
        place === undefined || place.baseUrl === "" ? [] : listModels(client, place, { signal: end }),
        host.listEditorModels?.().catch(() => []) ?? [],
      ]);
      const ofEditor = editors.length === 0 ? [] : [providerOfEditor(editors)];
      const others = providers.filter(({ backend }) => own.every((each) => each.backend !== backend));
      this.#set({ providers: [...ofEditor, ...own, ...others] });
    });
  }

  /** Lists one provider again, perhaps at another address. */
  async look(backend: Backend, baseUrl: string): Promise<void> {
    await this.#do("Listing models", "listing", () => this.#look(backend, baseUrl));
  }

  async try(choice: ChosenModel): Promise<void> {
    const { client, host, signal: end } = this.#options;
    this.#set({ trial: undefined });
    await this.#do("Trying the model", "trying", async () => {
      const outcome =
        choice.backend === "editor" && host.tryEditorModel !== undefined
          ? await host.tryEditorModel(choice.model)
          : await tryModel(client, choice, { signal: end });
      this.#set({ trial: { of: choice, outcome } });
    });
  }

  /** Resolves with whether the server has the key. @param baseUrl the only address that gets it; empty: the provider's own */
  async setKey(backend: Backend, baseUrl: string, key: string): Promise<boolean> {
    const { client, host, signal: end } = this.#options;
    this.#set({ trial: undefined });
    return this.#do("Setting the key", "setting the key", async () => {
      if (host.keepModelKey === undefined) await setModelKey(client, { backend, baseUrl, key }, { signal: end });
      else await host.keepModelKey({ backend, baseUrl, key });
      await this.#look(backend, baseUrl);
    });
  }

  async #look(backend: Backend, baseUrl: string): Promise<void> {
    const { client, signal: end } = this.#options;
    const [found] = await listModels(client, { backend, baseUrl }, { signal: end });
    if (found === undefined) return;
    const others = this.#state.peek().providers.filter((each) => each.backend !== backend);
    this.#set({ providers: [...others, found] });
  }

  /** False if it failed; the problem is shown. */
  async #do(action: string, busy: ModelStoreState["busy"], run: () => Promise<void>): Promise<boolean> {
    this.#set({ busy, problem: undefined });
    try {
      await run();
      return true;
    } catch (error) {
      if (!this.#options.signal.aborted) this.#set({ problem: problemOf(error, action) });
      return false;
    } finally {
      this.#set({ busy: undefined });
    }
  }

  #set(change: Partial<ModelStoreState>): void {
    this.#state.value = { ...this.#state.peek(), ...change };
  }
}

function providerOfEditor(
  models: readonly { readonly model: string; readonly contextTokens: number }[],
): ProviderChoice {
  return {
    backend: "editor",
    baseUrl: "",
    needsKey: false,
    hasKey: false,
    models: models.map((each) => ({ ...each, thinking: false, images: false, prices: undefined })),
    problem: "",
    hint: "",
  };
}
