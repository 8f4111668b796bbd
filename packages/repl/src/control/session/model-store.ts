import type { AgentClient } from "@gennai/client/connection/connection";
import { listModels, type ModelTrial, type ProviderChoice, tryModel } from "@gennai/client/host/model-choices";
import type { ChosenModel } from "@gennai/client/host/window-requests";
import { setModelKey } from "@gennai/client/session/model-key";
import type { Backend } from "@gennai/protocol/model/session/backend";
import { settingsFromMessage } from "@gennai/protocol/model/session/session-settings";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ReplHost } from "../../hosts/repl-host.ts";
import { PanelStore } from "../../look/panel-store.ts";
import type { Problem } from "../../look/problem.ts";

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
}

/** Models that a person can choose, their keys, and trials. Nothing here changes a session. */
export class ModelStore extends PanelStore<ModelStoreState> {
  /** True while the form is open. */
  readonly opened = signal(false);
  readonly #options: ModelStoreOptions;
  readonly #defaultBackend = signal<Backend | undefined>(undefined);
  /** The server's backend for users who choose none; undefined if not known yet. */
  readonly defaultBackend: ReadonlySignal<Backend | undefined> = this.#defaultBackend;

  constructor(options: ModelStoreOptions) {
    super({ providers: [], busy: undefined, trial: undefined, problem: undefined });
    this.#options = options;
  }

  open(): void {
    this.#options.onOpen();
    this.opened.value = true;
  }

  /** Never rejects: without an answer, it stays unknown. */
  async learnDefault(): Promise<void> {
    const { client } = this.#options;
    try {
      const { defaultSettings } = await client.getServerInfo({}, { signal: this.over });
      if (defaultSettings !== undefined) this.#defaultBackend.value = settingsFromMessage(defaultSettings).backend;
    } catch {
      // Connection problems have a banner of their own.
    }
  }

  /** Lists the models of all providers. @param place the user's own server that is in use */
  async list(place: ChosenModel | undefined): Promise<void> {
    const { client, host } = this.#options;
    this.set({ trial: undefined });
    await this.#do("Listing models", "listing", async () => {
      const [providers, own, editors] = await Promise.all([
        listModels(client, undefined, { signal: this.over }),
        place === undefined || place.baseUrl === "" ? [] : listModels(client, place, { signal: this.over }),
        host.listEditorModels?.().catch(() => []) ?? [],
      ]);
      const ofEditor = editors.length === 0 ? [] : [providerOfEditor(editors)];
      const others = providers.filter(({ backend }) => own.every((each) => each.backend !== backend));
      this.set({ providers: [...ofEditor, ...own, ...others] });
    });
  }

  /** Lists one provider again, perhaps at another address. */
  async look(backend: Backend, baseUrl: string): Promise<void> {
    await this.#do("Listing models", "listing", () => this.#look(backend, baseUrl));
  }

  async try(choice: ChosenModel): Promise<void> {
    const { client, host } = this.#options;
    this.set({ trial: undefined });
    await this.#do("Trying the model", "trying", async () => {
      const outcome =
        choice.backend === "editor" && host.tryEditorModel !== undefined
          ? await host.tryEditorModel(choice.model)
          : await tryModel(client, choice, { signal: this.over });
      this.set({ trial: { of: choice, outcome } });
    });
  }

  /** Resolves with whether the server has the key. @param baseUrl the only address that gets it; empty: the provider's own */
  async setKey(backend: Backend, baseUrl: string, key: string): Promise<boolean> {
    const { client, host } = this.#options;
    this.set({ trial: undefined });
    return this.#do("Setting the key", "setting the key", async () => {
      if (host.keepModelKey === undefined) await setModelKey(client, { backend, baseUrl, key }, { signal: this.over });
      else await host.keepModelKey({ backend, baseUrl, key });
      await this.#look(backend, baseUrl);
    });
  }

  async #look(backend: Backend, baseUrl: string): Promise<void> {
    const { client } = this.#options;
    const [found] = await listModels(client, { backend, baseUrl }, { signal: this.over });
    if (found === undefined) return;
    const others = this.state.peek().providers.filter((each) => each.backend !== backend);
    this.set({ providers: [...others, found] });
  }

  async #do(action: string, busy: ModelStoreState["busy"], run: () => Promise<void>): Promise<boolean> {
    return this.attempt(action, { during: { busy }, after: { busy: undefined } }, run);
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
