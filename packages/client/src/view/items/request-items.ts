import type { ClientRequestResolved } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ConfirmationRequest } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type ReceivedRequest, tellRequest } from "@gennai/protocol/model/session/editor-messages";
import { confirmationQuestion, showsWhatItApproves } from "../../questions/confirmation.ts";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import { confirmationReply, requestState } from "./view-from-wire.ts";
import type { ClientRequestItem, ConfirmationItem } from "./view-item.ts";

type RequestItem = ClientRequestItem | ConfirmationItem;

/** What the server asked a person or an editor, made from the requests and their resolutions. */
export class RequestItems {
  readonly #items: ItemList;
  readonly #cells = new Map<string, OpenCell<ClientRequestItem> | OpenCell<ConfirmationItem>>();

  constructor(items: ItemList) {
    this.#items = items;
  }

  /** @param resolved true if the event itself says that it needs no answer */
  confirm(place: ItemStart, message: ConfirmationRequest, resolved: boolean): void {
    const { requestId } = message;
    const item: ConfirmationItem = {
      kind: "confirmation",
      requestId,
      question: confirmationQuestion(message),
      genuine: showsWhatItApproves(message),
      answeredBy: "",
      reply: undefined,
      state: resolved ? "answered" : "open",
    };
    this.#cells.set(requestId, this.#items.add(place, item));
  }

  /** A request to an editor. */
  ask(place: ItemStart, asked: ReceivedRequest, resolved: boolean): void {
    const state = resolved ? "answered" : "open";
    const { requestId } = asked;
    const text = tellRequest(asked);
    const item: ClientRequestItem = { kind: "client-request", requestId, text, state, answeredBy: "" };
    this.#cells.set(requestId, this.#items.add(place, item));
  }

  of(requestId: string): RequestItem | undefined {
    const cell: { readonly item: { peek(): RequestItem } } | undefined = this.#cells.get(requestId);
    return cell?.item.peek();
  }

  resolve(resolved: ClientRequestResolved): void {
    const { requestId, clientId } = resolved;
    const cell: { readonly item: { value: RequestItem } } | undefined = this.#cells.get(requestId);
    if (cell === undefined) return;
    const { value } = cell.item;
    const end = { state: requestState(resolved.resolution), answeredBy: clientId };
    cell.item.value =
      value.kind === "confirmation" ? { ...value, ...end, reply: confirmationReply(resolved) } : { ...value, ...end };
  }
}
