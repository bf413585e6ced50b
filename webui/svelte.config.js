// Svelte strips types by itself: components use erasable syntax only, and plain CSS.
export default {};
