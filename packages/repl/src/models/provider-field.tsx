import type { ProviderChoice } from "@gennai/client/host/model-choices";
import { type Backend, backendLabel, backends, isSelfHosted } from "@gennai/protocol/model/session/backend";
import { useState } from "preact/hooks";

export interface ProviderFieldProps {
  readonly providers: readonly ProviderChoice[];
  /** undefined: all. */
  readonly looked: Backend | undefined;
  readonly isEditor: boolean;
  readonly busy: boolean;
  readonly onLook: (backend: Backend | undefined) => void;
  readonly onAddress: (backend: Backend, url: string) => void;
}

/** Chooses the provider whose models are shown, and the address of a server of the user's own. */
export function ProviderField({ providers, looked, isEditor, busy, onLook, onAddress }: ProviderFieldProps) {
  const provider = providers.find(({ backend }) => backend === looked);
  const offered = backends.filter(
    (each) => (each === "editor" && isEditor) || providers.some(({ backend }) => backend === each),
  );
  return (
    <>
      <label>
        Provider
        <select
          value={looked ?? ""}
          onChange={({ currentTarget }) => onLook(backends.find((each) => each === currentTarget.value))}
        >
          <option value="">All</option>
          {offered.map((each) => (
            <option key={each} value={each}>
              {backendLabel(each)}
            </option>
          ))}
        </select>
      </label>
      {provider !== undefined && isSelfHosted(provider.backend) && (
        <AddressField
          key={provider.backend}
          address={provider.baseUrl}
          busy={busy}
          onAddress={(url) => onAddress(provider.backend, url)}
        />
      )}
      {looked === "editor" && provider === undefined && (
        <p class="model-problem">No extension of this editor offers a model. Install one, or sign in to it.</p>
      )}
      {provider !== undefined && provider.problem !== "" && (
        <p class="model-problem" role="status">
          {provider.problem} {provider.hint}
        </p>
      )}
    </>
  );
}

interface AddressFieldProps {
  readonly address: string;
  readonly busy: boolean;
  readonly onAddress: (url: string) => void;
}

/** The server is only asked when the person submits: a half-typed address belongs to another server. */
function AddressField({ address, busy, onAddress }: AddressFieldProps) {
  const [url, setUrl] = useState(address);
  return (
    <form
      class="model-row"
      onSubmit={(event) => {
        event.preventDefault();
        onAddress(url.trim());
      }}
    >
      <label>
        Address
        <input
          type="url"
          value={url}
          placeholder="http://127.0.0.1:8000/v1"
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button button-quiet" disabled={busy || url.trim() === ""}>
        List models
      </button>
    </form>
  );
}
