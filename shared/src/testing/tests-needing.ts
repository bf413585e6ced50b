import { after, before, test, type TestContext } from 'node:test';

type Body = (context: TestContext) => void | Promise<void>;

/** The words of node:test for tests that need something this machine may lack. */
interface NeedingTests {
  test(title: string, body: Body): void;
  before(body: () => void | Promise<void>): void;
  after(body: () => void | Promise<void>): void;
}

/**
 * Tests that need `what` (MariaDB, browser, Go). Where it is missing, each of them is skipped with the reason, so that the end
 * of `npm test` can tell how many there were; before and after do nothing then. Inside a `describe` it holds for that suite.
 *
 * @param missing why it is missing and how to get it ("chromium is not installed (apt-get install chromium)"); undefined: it is there
 */
export function testsNeeding(what: string, missing: string | undefined): NeedingTests {
  if (missing === undefined) {
    return {
      test: (title, body) => void test(title, body),
      before: (body) => before(body),
      after: (body) => after(body),
    };
  }
  return {
    test: (title) => void test(title, { skip: `${what}: ${missing}` }, () => {}),
    before: () => {},
    after: () => {},
  };
}
