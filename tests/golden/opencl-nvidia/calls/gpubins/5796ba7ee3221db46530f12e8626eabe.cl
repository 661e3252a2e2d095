kernel void increment(global uint *a, uint by)
{
	a[get_global_id(0)] += by;
}
