import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

/** A yes that holds in every session of a workspace. */
export interface StandingAnswer {
  readonly id: string;
  /** `check`, `connection` or `login`. */
  readonly kind: string;
  /** What runs or is reached without a question. */
  readonly statement: string;
  readonly accepted: Date | undefined;
}

/** Empty if the server is too old. Rejects with `ConnectError`. @param sessionId empty: the default workspace */
export async function listStandingAnswers(
  client: GovernanceClient,
  sessionId: string,
  options: CallOptions,
): Promise<readonly StandingAnswer[]> {
  try {
    const { answers } = await client.listStandingAnswers({ sessionId }, options);
    return answers.map(({ id, kind, statement, accepted }) => ({
      id,
      kind,
      statement,
      accepted: accepted && timestampDate(accepted),
    }));
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unimplemented) return [];
    throw error;
  }
}

/** Afterwards, what it covered asks again. Rejects with `ConnectError`. @param id of one; undefined: all */
export async function revokeStandingAnswers(
  client: GovernanceClient,
  sessionId: string,
  id: string | undefined,
  options: CallOptions,
): Promise<void> {
  await client.revokeStandingAnswers({ sessionId, id: id ?? "", all: id === undefined }, options);
}
