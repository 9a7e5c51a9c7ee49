/** The one middleware shape of the program and the one way to stack it. */

export type Handler<Input, Output> = (input: Input) => Promise<Output>;

/** May change the input, call `next` once or not at all, and change the output. */
export type Middleware<Input, Output> = (input: Input, next: Handler<Input, Output>) => Promise<Output>;

/** The first middleware is outermost. A second call of `next` by one middleware is an error: effects must not repeat. */
export function compose<Input, Output>(
  chain: readonly Middleware<Input, Output>[],
  last: Handler<Input, Output>,
): Handler<Input, Output> {
  return chain.reduceRight<Handler<Input, Output>>((next, middleware) => {
    return async (input) => {
      let called = false;
      return middleware(input, (inner) => {
        if (called) return Promise.reject(new Error("a middleware called next() twice"));
        called = true;
        return next(inner);
      });
    };
  }, last);
}
