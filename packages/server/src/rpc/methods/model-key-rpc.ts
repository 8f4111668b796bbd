import { ServiceError } from "@gennai/machine/service-error";
import { originOf } from "@gennai/models/catalogue/key-destination";
import type { ModelKeys } from "@gennai/models/catalogue/model-keys";
import type { SetModelKeyRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { backendWords, providerNames } from "@gennai/protocol/model/session/backend";

/** Longer than any provider's; characters. */
const maxKey = 8_192;
const maxUrl = 2_048;

/** Takes a key from a client that stores it for the user. It is in no log, no answer and no file. */
export function modelKeyRpc(keys: Pick<ModelKeys, "hand">) {
  return ({ backend, key, baseUrl }: SetModelKeyRequest): Record<string, never> => {
    const provider = providerNames.find((each) => backendWords.toMessage(each) === backend);
    if (provider === undefined) {
      throw new ServiceError("invalid_argument", "backend: this one takes no key.", {
        hint: `Keys are for ${providerNames.join(", ")}.`,
      });
    }
    // A header could not carry anything else.
    if (key.length > maxKey || !/^[\x21-\x7e]*$/.test(key)) {
      throw new ServiceError("invalid_argument", `key: at most ${maxKey} visible ASCII characters.`, {
        hint: "Paste the key alone, without quotes or spaces.",
      });
    }
    if (baseUrl !== "" && (baseUrl.length > maxUrl || originOf(baseUrl) === undefined)) {
      throw new ServiceError("invalid_argument", "base_url: this is not an http or https address.", {
        hint: "Give the address that the key is for, as in http://127.0.0.1:8000/v1.",
      });
    }
    keys.hand(provider, baseUrl, key);
    return {};
  };
}
