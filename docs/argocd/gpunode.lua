-- Health of a GpuNode for Argo CD. Ostler makes these reports, one for each GPU node; they are in no Git.
local health = {
  Ready = "Healthy", Unmanaged = "Healthy", ForeignStack = "Healthy",
  Discovered = "Progressing", Installing = "Progressing", Waiting = "Progressing", Draining = "Progressing",
  Unloading = "Progressing", Resetting = "Progressing", Rebooting = "Progressing", Validating = "Progressing", Removing = "Progressing",
  Failed = "Degraded", Unhealthy = "Degraded", Unsupported = "Degraded", Lost = "Degraded",
}
if obj.status == nil or obj.status.state == nil then
  return { status = "Progressing", message = "Ostler has not reported about this node yet" }
end
return { status = health[obj.status.state] or "Unknown", message = obj.status.message or obj.status.state }
