// A vector as a picture, to look at and draw on.

import { make } from "./dom.js";

/** `drawn(numbers)` is called after each stroke. */
export function makePicture({ height, width }, drawn) {
  const canvas = make("canvas", { width, height, className: "picture" });
  canvas.setAttribute("role", "img");
  canvas.ariaLabel = `The input as a picture of ${width} by ${height} points`;
  const clear = make("button", { type: "button", className: "quiet" }, "Clear");
  const hint = make("p", { className: "hint" }, "Draw with mouse or finger, or ", clear);
  let numbers = [];
  let most = 1; // the largest value so far, which a stroke draws with

  function draw(newNumbers) {
    numbers = newNumbers;
    most = Math.max(most, ...numbers.slice(0, width * height));
    const ink = getComputedStyle(canvas).color.match(/[\d.]+/g).map(Number);
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let point = 0; point < width * height; point++) {
      const alpha = Math.max(0, Math.min(1, (numbers[point] ?? 0) / most));
      image.data.set([ink[0], ink[1], ink[2], 255 * alpha], 4 * point);
    }
    context.putImageData(image, 0, 0);
  }

  function paint({ offsetX, offsetY }) {
    const x = Math.floor((offsetX / canvas.clientWidth) * width);
    const y = Math.floor((offsetY / canvas.clientHeight) * height);
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const all = Array.from({ length: width * height }, (_, point) => numbers[point] ?? 0);
    all[y * width + x] = most;
    draw(all);
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    paint(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && paint(event));
  canvas.addEventListener("pointerup", () => drawn(numbers));
  clear.addEventListener("click", () => {
    draw(Array(width * height).fill(0));
    drawn(numbers);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => draw(numbers));
  return { element: make("figure", {}, canvas, hint), draw };
}
