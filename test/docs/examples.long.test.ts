import { testStories } from "./story-tests.ts";

testStories(Number.POSITIVE_INFINITY);
