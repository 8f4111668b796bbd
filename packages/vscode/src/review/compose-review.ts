import type { HostNotice } from "@gennai/client/host/host-messages";
import type * as vscode from "vscode";
import { ContentDocuments } from "../documents/content-documents.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { resolveInWorkspace } from "../editor/workspace-paths.ts";
import type { WorkspaceSession } from "../session/workspace-session.ts";
import { EditorReview } from "./editor-review.ts";
import { storageName, UnseenChanges } from "./unseen-changes.ts";
import { unseenStore } from "./unseen-store.ts";
import { WindowReviews } from "./window-reviews.ts";

export interface ComposeReviewOptions {
  readonly context: vscode.ExtensionContext;
  /** The session's folder, absolute. */
  readonly root: string;
  readonly files: EditorFiles;
  readonly sessions: () => WorkspaceSession;
  /** Tells the REPLs of all places but this. */
  readonly notifyOthers: (place: string | undefined, notice: HostNotice) => void;
  readonly onProblem: (what: string, error: unknown) => void;
}

/** What a window needs to review what the agent proposes and writes. */
export interface ReviewParts {
  readonly documents: ContentDocuments;
  readonly reviews: WindowReviews;
  readonly unseen: UnseenChanges;
  readonly review: EditorReview;
}

const reviewsKey = "gennai.reviews";
/** A window without a folder has no storage. */
const nowhere = { load: async () => undefined, save: async () => undefined };

/** Largest file that is read; bytes. */
const maxBytes = 2 * 1024 * 1024;

/** The parts are disposed with the extension. */
export function composeReview(options: ComposeReviewOptions): ReviewParts {
  const { context, root, files, sessions, notifyOthers, onProblem } = options;
  const documents = new ContentDocuments();
  const reviews = new WindowReviews({
    kept: context.workspaceState.get(reviewsKey),
    keep: (kept) => void context.workspaceState.update(reviewsKey, kept),
    changed: (state, place) => {
      notifyOthers(place, { type: "review", state });
      review.refresh();
    },
  });
  const unseen = new UnseenChanges({
    ...(context.storageUri === undefined ? nowhere : unseenStore(context.storageUri, storageName(root))),
    read: async (path) => files.readDisk((await resolveInWorkspace(root, path)).absolute, { maxBytes }),
    changed: () => review.refresh(),
    onProblem,
  });
  const review: EditorReview = new EditorReview({ root, sessions, documents, reviews, unseen });
  context.subscriptions.push(review, documents);
  return { documents, reviews, unseen, review };
}
