import type { Page } from "playwright-core";

/** Whether the window has stored this text, which is there after a reload: VS Code writes what extensions keep after a moment. */
export function hasStored(page: Page, text: string): Promise<boolean> {
  return page.evaluate(async (wanted) => {
    const ended = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.addEventListener("success", () => resolve(request.result));
        request.addEventListener("error", () => reject(request.error));
      });
    for (const { name = "" } of await indexedDB.databases()) {
      if (!name.startsWith("vscode-web-state-db")) continue;
      const database = await ended(indexedDB.open(name));
      const stores = [...database.objectStoreNames].map((store) =>
        ended(database.transaction(store).objectStore(store).getAll()),
      );
      const isThere = JSON.stringify(await Promise.all(stores)).includes(wanted);
      database.close();
      if (isThere) return true;
    }
    return false;
  }, text);
}
