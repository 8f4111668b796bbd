import type { ProviderChoice } from "@gennai/client/host/model-choices";
import { backendLabel, isSelfHosted } from "@gennai/protocol/model/session/backend";
import { useState } from "preact/hooks";

export interface ModelKeyFieldProps {
  readonly provider: ProviderChoice;
  /** True if the host keeps keys for its user. */
  readonly isKept: boolean;
  readonly busy: boolean;
  /** Resolves with whether the server has the key now. */
  readonly onKey: (key: string) => Promise<boolean>;
}

/** Says whether there is a key, and has a field for one. What is typed is never shown, and cleared when the key was set. */
export function ModelKeyField({ provider, isKept, busy, onKey }: ModelKeyFieldProps) {
  const { backend, baseUrl, needsKey, hasKey } = provider;
  const lacks = needsKey && !hasKey;
  const [asked, setAsked] = useState(false);
  const [key, setKey] = useState("");
  const label = backendLabel(backend);
  // Other providers have only one address.
  const place = isSelfHosted(backend) ? shownOrigin(baseUrl) : undefined;
  if (!lacks && !asked) {
    return (
      <p class="model-key">
        <span>
          {hasKey ? `The key of ${label} is set.` : `${label} needs no key.`}
          {hasKey && place !== undefined && ` It is sent only to ${place}.`}
        </span>
        <button type="button" class="link" onClick={() => setAsked(true)}>
          {hasKey ? "Change key" : "Set a key"}
        </button>
      </p>
    );
  }
  return (
    <form
      class="model-row"
      onSubmit={(event) => {
        event.preventDefault();
        void onKey(key.trim()).then((isSet) => {
          if (!isSet) return;
          setKey("");
          setAsked(false);
        });
      }}
    >
      <label>
        Key of {label}
        <input
          type="password"
          value={key}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="model-key-place"
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button button-quiet" disabled={busy || key.trim() === ""}>
        Set key
      </button>
      <p id="model-key-place" class="model-hint">
        {place !== undefined && `It is sent only to ${place}. `}
        {isKept
          ? "Kept in the editor's secret storage and the server's memory, never in a file."
          : `The server keeps it in memory until it ends. To keep it for good, put it into its system's keychain: service gennai, account ${backend}.`}
      </p>
    </form>
  );
}

function shownOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
