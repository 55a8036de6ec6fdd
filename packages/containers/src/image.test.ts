import { expect, it } from 'vitest'
import { fullImageName } from './image.ts'

it.each([
  ['python:3.14-slim', 'docker.io/library/python:3.14-slim'],
  ['me/python', 'docker.io/me/python'],
  ['quay.io/me/python:1', 'quay.io/me/python:1'],
  ['localhost/sandbridge-slim', 'localhost/sandbridge-slim'],
  ['registry:5000/python', 'registry:5000/python'],
])('the image %s is pulled as %s', (name, full) => {
  expect(fullImageName(name)).toBe(full)
})
