// Replaces `fetch` and its classes by those of newer versions of Node.
import { install } from "undici";

install();
