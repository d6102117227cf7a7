-- Health of a GpuClusterPolicy for Argo CD. It says what kstatus says (Stalled, Reconciling, Ready, observedGeneration), and more:
-- a rollout under way is Progressing, one that waits for people or for its hours is Suspended; what the condition Degraded names
-- (nodes, a version that was rolled back, metrics, a missing detector) is Degraded. Bad GPUs alone are not: a large fleet has some on most
-- days, and alerts and the nodes' own reports tell of them.
local waits = { Paused = true, WaitingForApproval = true, WaitingForWindow = true }
-- Nothing more will happen by itself to nodes that are down, or that people keep out: that is no matter of this policy's health.
local over = { UpToDate = true, NodesDown = true, NodesSkipped = true }

local function condition(kind)
  for _, c in ipairs(obj.status.conditions or {}) do
    if c.type == kind then
      return c
    end
  end
  return { status = "Unknown", reason = "", message = "" }
end

local function health(status, message)
  return { status = status, message = message }
end

if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health("Progressing", "Ostler has not looked at this generation yet")
end

local ready, rollout = condition("Ready"), condition("RollingOut")
local stalled, degraded = condition("Stalled"), condition("Degraded")
if stalled.status == "True" then
  return health("Degraded", stalled.message)
end
if degraded.status == "True" and degraded.reason ~= "GpusUnhealthy" then
  return health("Degraded", degraded.message)
end
if rollout.reason == "RevisionFailed" then
  return health("Degraded", rollout.message)
end
if ready.status ~= "True" or condition("Reconciling").status == "True" then
  return health("Progressing", ready.message)
end
if rollout.status ~= "True" and waits[rollout.reason] then
  return health("Suspended", rollout.message)
end
if rollout.status == "True" or not over[rollout.reason] then
  return health("Progressing", rollout.message)
end
return health("Healthy", ready.message)
